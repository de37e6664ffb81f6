# Threads, the stacks of their tasks, and the booking of time.

cdef Stack *new_stack(PyObject *context) noexcept:
    cdef Stack *stack = <Stack *>calloc(1, sizeof(Stack))
    if stack == NULL:
        return NULL
    stack.room = 32
    stack.frames = <Frame *>malloc(stack.room * sizeof(Frame))
    if stack.frames == NULL:
        free(stack)
        return NULL
    Py_XINCREF(context)
    stack.context = context
    return stack


cdef void free_stack(Stack *stack) noexcept:
    cdef PyObject *context = stack.context
    free(stack.frames)
    free(stack)
    Py_XDECREF(context)


cdef ThreadRecord *new_record(PyThreadState *state) except NULL:
    global records, lane_count, recorders_beside_main
    cdef ThreadRecord *record = <ThreadRecord *>calloc(1, sizeof(ThreadRecord))
    cdef PyObject *context
    if record == NULL:
        raise MemoryError
    # Ordinary code may get its context late (the first contextvar makes it): have it made now, so that a change of
    # context always means a task.
    PyContext_CopyCurrent()
    context = NULL if inside_event_loop() else rlprof_context(state)
    record.serial = rlprof_thread_serial(state)
    record.ident = rlprof_thread_ident(state)
    forget_ident(record.ident)
    record.base = new_stack(context)
    if record.base == NULL:
        free(record)
        raise MemoryError
    record.current = record.base
    if lane_count < MAX_LANES:
        lanes[lane_count].ident = record.ident
        lanes[lane_count].more = NULL
        lanes[lane_count].root = new_node(NULL, ROOT_LABEL.id, lane_count)
        record.lane = &lanes[lane_count]
        lane_count += 1
    else:
        record.lane = &lanes[MAX_LANES - 1]
    record.last = now()
    record.next = records
    records = record
    if record.ident != main_ident:
        recorders_beside_main = True
    return record


cdef void forget_ident(uint64_t ident) noexcept:
    """The system gives a thread's ident away again once it has ended: from now on it means the new one."""
    cdef ThreadRecord *record = records
    while record != NULL:
        if record.ident == ident:
            record.ident = 0
        record = record.next


cdef bint inside_event_loop():
    import sys
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


cdef ThreadRecord *find_record(PyThreadState *state) except NULL:
    global last_record, last_state, last_serial
    cdef uint64_t serial = rlprof_thread_serial(state)
    cdef ThreadRecord *record = records
    while record != NULL and record.serial != serial:
        record = record.next
    if record == NULL:
        record = new_record(state)
    last_record = record
    last_state = state
    last_serial = serial
    return record


cdef inline ThreadRecord *here() except NULL:
    """The record of this thread, with the stack of the task that runs now as its current one."""
    cdef PyThreadState *state = PyThreadState_Get()
    cdef ThreadRecord *record
    if state == last_state and rlprof_thread_serial(state) == last_serial:
        record = last_record
    else:
        record = find_record(state)
    if rlprof_context(state) != record.current.context:
        switch_stack(record, rlprof_context(state))
    return record


cdef void switch_stack(ThreadRecord *record, PyObject *context) noexcept:
    """Time since the last booking stays with the stack that is left: nothing says when the task changed."""
    cdef Stack *stack = record.base
    cdef Stack *before = NULL
    cdef Stack *left = record.current
    book(record, now())
    while stack != NULL and stack.context != context:
        before = stack
        stack = stack.next
    if stack == NULL:
        stack = new_stack(context)
        if stack == NULL:
            return
        before.next = stack
    record.current = stack
    if left.depth == 0 and left != record.base:
        drop_stack(record, left)


cdef void drop_stack(ThreadRecord *record, Stack *gone) noexcept:
    cdef Stack *stack = record.base
    while stack != NULL and stack.next != gone:
        stack = stack.next
    if stack != NULL:
        stack.next = gone.next
        free_stack(gone)


cdef inline Node *innermost(ThreadRecord *record) noexcept:
    """Spans of a task are below what is open outside all tasks of its thread."""
    cdef Stack *stack = record.current
    if stack.depth > 0:
        return stack.frames[stack.depth - 1].node
    if stack != record.base and record.base.depth > 0:
        return record.base.frames[record.base.depth - 1].node
    return record.lane.root


cdef inline void book_on(Node *node, ThreadRecord *record, int64_t t) noexcept:
    if recording:
        node.own += t - record.last
    if record.passed:
        node.charged += record.passed * pass_ns
        record.passed = 0
    record.last = t


cdef inline void book(ThreadRecord *record, int64_t t) noexcept:
    book_on(innermost(record), record, t)


cdef inline Frame *push(ThreadRecord *record, Node *node, PyObject *span, int64_t t) noexcept:
    cdef Stack *stack = record.current
    cdef Frame *grown
    if stack.depth == stack.room:
        grown = <Frame *>realloc(stack.frames, 2 * stack.room * sizeof(Frame))
        if grown == NULL:
            return NULL
        stack.frames = grown
        stack.room *= 2
    cdef Frame *frame = &stack.frames[stack.depth]
    frame.node = node
    frame.span = span
    frame.start = t
    frame.rss_at_entry = last_rss
    frame.folded = False
    frame.group = 0
    stack.depth += 1
    return frame


cdef inline void hold(ThreadRecord *record, uint32_t group) noexcept:
    record.busy[group] += 1
    record.groups |= <uint32_t>1 << group


cdef inline void release(ThreadRecord *record, uint32_t group) noexcept:
    record.busy[group] -= 1
    if not record.busy[group]:
        record.groups &= ~(<uint32_t>1 << group)


cdef void free_record(ThreadRecord *record) noexcept:
    cdef PyObject *loss = record.loss
    cdef PyObject *loss_code = record.loss_code
    cdef PyObject *learning = record.learning
    cdef PyObject *collecting = record.collecting
    forget_actings(record)
    free(record)
    Py_XDECREF(loss)
    Py_XDECREF(loss_code)
    Py_XDECREF(learning)
    Py_XDECREF(collecting)


cdef inline void tally(Node *node, int64_t duration) noexcept:
    cdef int octave
    cdef uint32_t bucket
    node.total += duration
    if duration < node.shortest:
        node.shortest = duration
    if duration > node.longest:
        node.longest = duration
    node.count += 1
    if duration < (1 << FIRST_OCTAVE):
        bucket = 0
    elif duration >= (<int64_t>1 << LAST_OCTAVE):
        bucket = BUCKETS - 1
    else:
        octave = rlprof_octave(<unsigned long long>duration)
        bucket = 1 + 4 * (octave - FIRST_OCTAVE) + ((duration >> (octave - 2)) & 3)
    node.histogram[bucket] += 1


cdef inline void finish(ThreadRecord *record, Frame *frame, int64_t t) noexcept:
    """Count a span that ends at `t`; its frame is taken off the stack by the caller."""
    global spans_closed
    cdef int64_t duration = t - frame.start
    if duration < 0:
        duration = 0
    spans_closed += 1
    if frame.group:
        release(record, frame.group)
    if frame.folded:
        frame.node.count += 1
        frame.node.histogram[0] += 1
        return
    tally(frame.node, duration)
    if logging_events:
        log_event(frame.node.id, frame.start, duration)
    if record == leader and turn_open and slow_room:
        keep_in_flight(frame.node.id, frame.start, duration)
