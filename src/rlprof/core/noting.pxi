# What the threads beside the program ask and tell: open paths, own cost, memory, ended threads.

def open_paths():
    """The path that is innermost now in each thread, by thread ident."""
    cdef ThreadRecord *record = records
    found = {}
    while record != NULL:
        if record.ident:
            found[record.ident] = innermost(record).id
        record = record.next
    return found


def open_path_here():
    """The path that is innermost now in the calling thread."""
    return innermost(here()).id


def reap(live_idents):
    """Forget threads that have ended, once all their spans are closed. Their statistics stay."""
    global last_record, last_state, last_serial, leader, recorders_beside_main
    cdef ThreadRecord *record = records
    cdef ThreadRecord *before = NULL
    cdef ThreadRecord *after
    cdef int64_t t = now()
    cdef bint beside = False
    while record != NULL:
        after = record.next
        if record.ident not in live_idents and record.base.depth == 0 and record.base.next == NULL:
            if recording:
                book(record, t)
            unlink(before, record)
            if record == leader:
                leader = NULL
            free_stack(record.base)
            free_record(record)
        else:
            before = record
            beside = beside or record.ident != main_ident
        record = after
    recorders_beside_main = beside
    last_record = NULL
    last_state = NULL
    last_serial = 0


cdef void unlink(ThreadRecord *before, ThreadRecord *record) noexcept:
    global records
    if before == NULL:
        records = record.next
    else:
        before.next = record.next


def charge(int64_t nanoseconds, ident=None):
    """Book time that rlprof itself took on the span that is innermost now, here or in another thread."""
    cdef ThreadRecord *record
    if ident is None:
        innermost(here()).charged += nanoseconds
        return
    record = records
    while record != NULL:
        if record.ident == ident:
            innermost(record).charged += nanoseconds
            return
        record = record.next


def note_rss(int64_t rss):
    """Take a sample of the resident size: every open span sees it."""
    spread_rss(rss)


cdef void spread_rss(int64_t rss) noexcept:
    global last_rss
    cdef ThreadRecord *record = records
    cdef Stack *stack
    cdef Frame *frame
    cdef int i
    while record != NULL:
        stack = record.base
        while stack != NULL:
            for i in range(stack.depth):
                frame = &stack.frames[i]
                if rss > frame.node.rss_peak:
                    frame.node.rss_peak = rss
                if frame.rss_at_entry and not frame.node.tracked and rss - frame.rss_at_entry > frame.node.rss_rise:
                    frame.node.rss_rise = rss - frame.rss_at_entry
            stack = stack.next
        record = record.next
    last_rss = rss


def track_memory_of(uint32_t path):
    """From now on the memory of this path comes from `note_memory` alone."""
    if path < node_count:
        nodes[path].tracked = True


def note_memory(uint32_t path, int64_t rss_peak, int64_t rss_rise, int64_t device_rise):
    """Take the exact figures of one span: its peak, its rise, and the device's rise (-1: no device)."""
    cdef Node *node
    if path >= node_count:
        return
    node = nodes[path]
    node.rss_peak = max(node.rss_peak, rss_peak)
    node.rss_rise = max(node.rss_rise, rss_rise)
    node.exact = 1
    node.device_rise = max(node.device_rise, device_rise + 1)
