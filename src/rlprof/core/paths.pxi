# The tree of paths: a node for each chain of labels in each thread.

cdef Node *new_node(Node *parent, uint32_t label, uint32_t lane) noexcept:
    global node_count
    cdef Node *node
    if node_count >= MAX_NODES:
        return NULL
    node = <Node *>calloc(1, sizeof(Node))
    if node == NULL:
        return NULL
    node.parent = parent
    node.id = node_count
    node.label = label
    node.lane = lane
    node.shortest = NEVER
    nodes[node_count] = node
    node_count += 1
    return node


def path_count():
    return node_count


def is_in_loop():
    """Whether the program's own loop runs in this thread, and nothing that a library does for it."""
    return in_loop(here())


cdef bint in_loop(ThreadRecord *record) noexcept:
    cdef Label label
    cdef int i
    if record.muted or record.current != record.base:
        return False
    for i in range(record.current.depth):
        label = labels[record.current.frames[i].node.label]
        if label.kind != KIND_FUNCTION:
            return False
    return True


def is_inside(str name):
    """Whether a span of this name is open in this thread."""
    cdef Node *node = innermost(here())
    cdef Label label
    while node != NULL:
        label = labels[node.label]
        if label.name == name:
            return True
        node = node.parent
    return False


def has_own_spans():
    """Whether the program marks its work itself, beside the spans that this thread has open right now."""
    cdef uint32_t i
    cdef Label label
    cdef set open_here = set()
    cdef Node *node = innermost(here())
    while node != NULL:
        open_here.add(node.id)
        node = node.parent
    for i in range(node_count):
        label = labels[nodes[i].label]
        if label.kind <= KIND_ITERATION and not (label.kind == KIND_FUNCTION and i in open_here):
            return True
    return False


cdef inline uint32_t slot_of(uint32_t parent, uint32_t label) noexcept:
    return ((parent * <uint32_t>2654435761u) ^ (label * <uint32_t>2246822519u)) & (TABLE - 1)


cdef inline void remember_child(Node *node, Node *child) noexcept:
    node.seen[child.label % SEEN].label = child.label
    node.seen[child.label % SEEN].child = child


cdef Node *find_child(Node *node, uint32_t label) noexcept:
    cdef uint32_t slot = slot_of(node.id, label)
    cdef Node *child
    cdef Lane *lane
    while children[slot] != NULL:
        child = children[slot]
        if child.parent == node and child.label == label:
            remember_child(node, child)
            return child
        slot = (slot + 1) & (TABLE - 1)
    # A few places stay free so that every thread can still get its root and its "(more paths)".
    if node_count >= MAX_NODES - 2 * MAX_LANES:
        lane = &lanes[node.lane]
        if lane.more == NULL:
            lane.more = new_node(lane.root, MORE_LABEL.id, node.lane)
        return lane.more if lane.more != NULL else node
    child = new_node(node, label, node.lane)
    if child == NULL:
        return node
    children[slot] = child
    remember_child(node, child)
    return child
