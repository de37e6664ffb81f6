# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, initializedcheck=False
"""The span recorder: the one compiled file of rlprof.

All state is in C structures guarded by the interpreter lock: every function here runs to its end without giving it
up, so the writer thread, the sampler thread and the program's own threads never see a half-made change.

Time is booked by a sweep: each thread remembers when it last booked, and whenever a span opens, closes, or the writer
drains, the time since then goes to the span that was innermost. Self times of a thread therefore add up to its
recorded time exactly, in whatever order spans are closed.

A span is opened on a stack. A thread has one stack for ordinary code and one for each asyncio task that has spans open,
told apart by the context object the interpreter runs the task in.
"""

cimport cython
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF, Py_XINCREF
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

cdef extern from *:
    """
    #include <time.h>
    #ifdef _WIN32
    #define WIN32_LEAN_AND_MEAN
    #include <windows.h>
    static inline int64_t rlprof_clock(void) {
        static LARGE_INTEGER rate;
        LARGE_INTEGER ticks;
        if (!rate.QuadPart) QueryPerformanceFrequency(&rate);
        QueryPerformanceCounter(&ticks);
        return ticks.QuadPart / rate.QuadPart * 1000000000LL
             + ticks.QuadPart % rate.QuadPart * 1000000000LL / rate.QuadPart;
    }
    #else
    static inline int64_t rlprof_clock(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
    }
    #endif
    /* The context a task runs in tells tasks of one thread apart. Where an interpreter hides it, tasks share a stack. */
    #if PY_VERSION_HEX < 0x030E0000 && !defined(PYPY_VERSION)
    #define rlprof_context(ts) ((PyObject *)(ts)->context)
    #define rlprof_thread_serial(ts) ((uint64_t)(ts)->id)
    #else
    #define rlprof_context(ts) ((PyObject *)NULL)
    #define rlprof_thread_serial(ts) ((uint64_t)PyThreadState_GetID(ts))
    #endif
    #define rlprof_thread_ident(ts) ((uint64_t)PyThread_get_thread_ident())
    #if defined(__GNUC__)
    #define rlprof_octave(x) (63 - __builtin_clzll(x))
    #else
    static inline int rlprof_octave(unsigned long long x) { int n = 0; while (x >>= 1) n++; return n; }
    #endif
    """
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyThreadState_Get() noexcept
    int64_t rlprof_clock() noexcept
    PyObject *rlprof_context(PyThreadState *) noexcept
    uint64_t rlprof_thread_serial(PyThreadState *) noexcept
    uint64_t rlprof_thread_ident(PyThreadState *) noexcept
    int rlprof_octave(unsigned long long) noexcept
    object PyContext_CopyCurrent()

# --- limits: what keeps memory bounded whatever the program does -----------------------------------------------------

cdef enum:
    MAX_NODES = 4096  # paths per process; further ones are booked on their thread's "(more paths)"
    TABLE = 16384  # slots of the child table, a power of two, four times the nodes
    MAX_LABELS = 4096
    MAX_LANES = 64  # threads with a tree of their own; further ones share one
    MAX_DEPTH = 128  # deeper spans are booked on the span they are in
    FIRST_OCTAVE = 5
    LAST_OCTAVE = 42
    BUCKETS = 150  # 4 * (LAST_OCTAVE - FIRST_OCTAVE) + 2
    CHUNK = 32768  # events handed over at a time
    MAX_CHUNKS = 16
    FLIGHT = 16384  # events kept of one iteration
    MAX_SLOW = 16
    MAX_TURNS = 4096  # iterations listed per drain

cdef enum Kind:
    KIND_ITERATION = 5
    KIND_ROOT = 6

# --- structures ------------------------------------------------------------------------------------------------------

cdef struct Node:
    Node *parent
    uint32_t id
    uint32_t label
    uint32_t lane
    uint32_t seen_label  # the child that was asked for last: loops ask for the same one
    Node *seen_child
    uint64_t count
    int64_t total
    int64_t own
    int64_t shortest
    int64_t longest
    int64_t charged
    int64_t rss_peak
    int64_t rss_rise
    int64_t device_rise
    uint32_t exact
    bint tracked  # its memory is measured exactly: samples would only blur it
    uint32_t histogram[BUCKETS]

cdef struct Frame:
    Node *node
    PyObject *span  # whose frame it is; NULL for an iteration
    int64_t start
    int64_t rss_at_entry
    bint folded  # below the depth limit: counts calls, its time is in the span around it

cdef struct Stack:
    PyObject *context
    Frame *frames
    int depth
    int room
    Stack *next

cdef struct Lane:
    Node *root
    uint64_t ident
    Node *more

cdef struct ThreadRecord:
    uint64_t serial  # of the interpreter's thread state: never used twice
    uint64_t ident
    int64_t last
    Stack *base
    Stack *current
    Lane *lane
    ThreadRecord *next

cdef struct Event:
    uint32_t path
    int64_t start
    int64_t duration

cdef struct Turn:
    int64_t start
    int64_t duration
    double env_steps

cdef struct SlowTurn:
    int64_t index
    int64_t start
    int64_t duration
    int64_t elided
    int64_t elided_below
    uint32_t events
    bint fresh
    Event *log

cdef packed struct Row:
    uint32_t path
    uint32_t exact
    uint64_t count
    int64_t total
    int64_t own
    int64_t shortest
    int64_t longest
    int64_t charged
    int64_t rss_peak
    int64_t rss_rise
    int64_t device_rise

cdef packed struct Bin:
    uint32_t row
    uint32_t bucket
    uint32_t count

cdef packed struct OpenSpan:
    uint32_t path
    int64_t start

# --- state -----------------------------------------------------------------------------------------------------------

cdef bint recording = False
cdef bint fake_clock = False
cdef int64_t fake_now = 0

cdef Node *nodes[MAX_NODES]
cdef uint32_t node_count = 0
cdef Node *children[TABLE]
cdef Lane lanes[MAX_LANES]
cdef uint32_t lane_count = 0
cdef ThreadRecord *records = NULL
cdef ThreadRecord *last_record = NULL
cdef PyThreadState *last_state = NULL
cdef uint64_t last_serial = 0
cdef uint64_t main_ident = 0

cdef dict labels_by_name = {}
cdef list labels = []
cdef dict counters = {}
cdef int64_t last_rss = 0

cdef uint64_t spans_closed = 0
cdef uint64_t spans_abandoned = 0
cdef uint64_t exits_unmatched = 0
cdef uint64_t spans_folded = 0
cdef uint64_t amounts_refused = 0
cdef int64_t recorded_ns = 0  # time switched on, up to `resumed`
cdef int64_t resumed = 0

cdef bint logging_events = False
cdef Event *chunk = NULL
cdef uint32_t chunk_fill = 0
cdef list full_chunks = []
cdef uint64_t events_emitted = 0
cdef uint64_t events_dropped = 0

cdef ThreadRecord *leader = NULL  # the thread whose iterations count
cdef int64_t leader_lane = -1
cdef int64_t turn_index = -1
cdef int64_t turn_start = 0
cdef double turn_steps = 0
cdef Turn turns[MAX_TURNS]
cdef uint32_t turn_fill = 0
cdef uint64_t turns_dropped = 0
cdef uint64_t turns_closed = 0
cdef int64_t wait_turns = 0, warmup_turns = 0, active_turns = 0, repeat_turns = 0

cdef Event *flight = NULL
cdef uint32_t flight_fill = 0
cdef int64_t flight_floor = 0
cdef int64_t flight_elided = 0
cdef SlowTurn slow[MAX_SLOW]
cdef int slow_room = 0
cdef int slow_count = 0

cdef object memory_span_factory = None
cdef object on_bad_phase = None
cdef frozenset known_phases = frozenset()


cdef inline int64_t now() noexcept:
    return fake_now if fake_clock else rlprof_clock()


# --- labels: a name with its phase, interned -------------------------------------------------------------------------

@cython.final
@cython.no_gc
cdef class Label:
    cdef readonly str name
    cdef readonly object phase
    cdef readonly uint32_t kind
    cdef readonly uint32_t id
    cdef Label other  # the same name with another phase or kind


cdef Label new_label(str name, object phase, uint32_t kind):
    cdef Label label = Label.__new__(Label)
    label.name = name
    label.phase = phase
    label.kind = kind
    label.id = <uint32_t>len(labels)
    labels.append(label)
    return label


cdef Label ROOT_LABEL = new_label("", None, KIND_ROOT)
cdef Label MORE_LABEL = new_label("(more paths)", None, 0)
cdef Label TURN_LABEL = new_label("iteration", None, KIND_ITERATION)


cdef inline bint same_text(object one, object other):
    return type(one) is str and type(other) is str and <str>one == <str>other


cdef Label find_label(object name, object phase, uint32_t kind):
    cdef PyObject *found = NULL
    cdef Label label
    if type(name) is str:
        found = PyDict_GetItem(labels_by_name, name)
        if found != NULL:
            label = <Label>found
            if label.kind == kind and (label.phase is phase or same_text(label.phase, phase)):
                return label
    return find_label_slowly(name, phase, kind)


cdef Label find_label_slowly(object name, object phase, uint32_t kind):
    cdef Label label, first
    if type(name) is not str:
        name = str(name)
    if phase is not None and phase not in known_phases:
        if on_bad_phase is not None:
            on_bad_phase(name, phase)
        phase = None
    first = labels_by_name.get(name)
    label = first
    while label is not None:
        if label.phase == phase and label.kind == kind:
            return label
        label = label.other
    if len(labels) >= MAX_LABELS:
        return MORE_LABEL
    label = new_label(name, phase, kind)
    if first is None:
        labels_by_name[name] = label
    else:
        label.other = first.other
        first.other = label
    return label


cdef struct Remembered:
    PyObject *name
    PyObject *phase
    PyObject *label

cdef Remembered remembered[256]


cdef inline Label label_at_site(object name, object phase):
    """The label of a `with profile(...)`. A call site passes the same objects each time, so their addresses find it
    without hashing; the table holds references, so no address in it can come to mean something else."""
    cdef Remembered *slot = &remembered[(<size_t><void *>name >> 4) & 255]
    if slot.name == <PyObject *>name and slot.phase == <PyObject *>phase:
        return <Label>slot.label
    return remember(slot, name, phase)


cdef Label remember(Remembered *slot, object name, object phase):
    cdef Label label = find_label(name, phase, 0)
    cdef Remembered old = slot[0]
    if label is MORE_LABEL:
        return label
    Py_XINCREF(<PyObject *>name)
    Py_XINCREF(<PyObject *>phase)
    Py_XINCREF(<PyObject *>label)
    slot.name = <PyObject *>name
    slot.phase = <PyObject *>phase
    slot.label = <PyObject *>label
    Py_XDECREF(old.name)
    Py_XDECREF(old.phase)
    Py_XDECREF(old.label)
    return label


# --- the tree of paths -----------------------------------------------------------------------------------------------

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
    nodes[node_count] = node
    node_count += 1
    return node


cdef inline uint32_t slot_of(uint32_t parent, uint32_t label) noexcept:
    return ((parent * <uint32_t>2654435761u) ^ (label * <uint32_t>2246822519u)) & (TABLE - 1)


cdef Node *find_child(Node *node, uint32_t label) noexcept:
    cdef uint32_t slot = slot_of(node.id, label)
    cdef Node *child
    cdef Lane *lane
    while children[slot] != NULL:
        child = children[slot]
        if child.parent == node and child.label == label:
            node.seen_label = label
            node.seen_child = child
            return child
        slot = (slot + 1) & (TABLE - 1)
    # A few places stay free so that every thread can still get its root and its "(more paths)".
    if label != MORE_LABEL.id and node_count >= MAX_NODES - 2 * MAX_LANES:
        lane = &lanes[node.lane]
        if lane.more == NULL:
            lane.more = new_node(lane.root, MORE_LABEL.id, node.lane)
        return lane.more if lane.more != NULL else node
    child = new_node(node, label, node.lane)
    if child == NULL:
        return node
    children[slot] = child
    node.seen_label = label
    node.seen_child = child
    return child


# --- threads and their stacks ----------------------------------------------------------------------------------------

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
    global records, lane_count
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
    return record


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
    stack.depth += 1
    return frame


cdef inline void tally(Node *node, int64_t duration) noexcept:
    cdef int octave
    cdef uint32_t bucket
    node.total += duration
    if duration < node.shortest or node.count == 0:
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
    if frame.folded:
        frame.node.count += 1
        frame.node.histogram[0] += 1
        return
    tally(frame.node, duration)
    if logging_events:
        log_event(frame.node.id, frame.start, duration)
    if record == leader and turn_index >= 0 and slow_room:
        keep_in_flight(frame.node.id, frame.start, duration)


# --- spans -----------------------------------------------------------------------------------------------------------

cdef class _Itself:
    """A descriptor that gives the instance: the interpreter then calls the span itself on entry and on exit.

    Binding two methods per `with` would cost as much as the rest of a span.
    """

    def __get__(self, instance, owner):
        return _unbound_step if instance is None else instance


def _unbound_step(span, *args):
    return span(*args)


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Span:
    """One timed stretch of work. `with` calls it with nothing on entry and with three arguments on exit."""

    cdef Label label
    cdef uint32_t opened

    __enter__ = _Itself()
    __exit__ = _Itself()

    def __call__(self, *args):
        if args:
            close_span(self)
            return None
        open_span(self)
        return self

    def __dealloc__(self):
        if self.opened:
            abandon(<PyObject *>self)


cdef int open_span(Span span) except -1:
    cdef ThreadRecord *record = here()
    cdef Node *node = innermost(record)
    cdef Node *child
    cdef Frame *frame
    cdef int64_t t
    cdef bint folded = False
    global spans_folded
    if node.seen_label == span.label.id and node.seen_child != NULL:
        child = node.seen_child
    elif record.current.depth >= MAX_DEPTH:
        child = node
        folded = True
        spans_folded += 1
    else:
        child = find_child(node, span.label.id)
    t = now()
    book_on(node, record, t)
    frame = push(record, child, <PyObject *>span, t)
    if frame != NULL:
        frame.folded = folded
        span.opened += 1
    return 0


cdef int close_span(Span span) except -1:
    cdef int64_t t = now()
    cdef ThreadRecord *record
    cdef Frame *frame
    global exits_unmatched
    if not span.opened:
        exits_unmatched += 1
        return 0
    record = here()
    if record.current.depth > 0:
        frame = &record.current.frames[record.current.depth - 1]
        if frame.span == <PyObject *>span:
            book_on(frame.node, record, t)
            span.opened -= 1
            record.current.depth -= 1
            finish(record, frame, t)
            return 0
    if not close_elsewhere(record, <PyObject *>span, t):
        exits_unmatched += 1
    span.opened -= 1
    return 0


cdef bint close_in_stack(ThreadRecord *record, Stack *stack, PyObject *span, int64_t t, bint counts) noexcept:
    """Take the newest frame of `span` out of a stack, wherever it lies in it."""
    cdef int i = stack.depth - 1
    cdef Frame frame
    while i >= 0:
        if stack.frames[i].span == span:
            book(record, t)
            frame = stack.frames[i]
            memmove(&stack.frames[i], &stack.frames[i + 1], (stack.depth - 1 - i) * sizeof(Frame))
            stack.depth -= 1
            if counts:
                finish(record, &frame, t)
            return True
        i -= 1
    return False


cdef bint close_elsewhere(ThreadRecord *first, PyObject *span, int64_t t, bint counts=True) noexcept:
    """Close a span that is not the innermost one here: out of order, in another task, or in another thread."""
    cdef ThreadRecord *record = first
    cdef Stack *stack
    if first != NULL and close_in_stack(first, first.current, span, t, counts):
        return True
    record = records
    while record != NULL:
        stack = record.base
        while stack != NULL:
            if close_in_stack(record, stack, span, t, counts):
                return True
            stack = stack.next
        record = record.next
    return False


cdef void abandon(PyObject *span) noexcept:
    """A span was thrown away while open: its time stays where it was booked, and the loss is counted."""
    global spans_abandoned
    while close_elsewhere(NULL, span, now(), False):
        spans_abandoned += 1


def _off_enter():
    return OFF


def _off_exit(kind, value, traceback):
    return None


@cython.final
cdef class _Off:
    """What `profile` returns while recording is off. Plain functions are not bound, so entering it costs no object."""

    __enter__ = _off_enter
    __exit__ = _off_exit


cdef _Off OFF = _Off.__new__(_Off)


def profile(name, *, phase=None, track_memory=False):
    """Time a stretch of code: `with profile("env_step", phase="env.step"): ...`

    phase: which RL phase the time counts towards (see the docs for the list). Without one, the span belongs to the
    phase of the span around it. track_memory: also measure the exact peak of resident memory during this span.
    """
    cdef Span span
    if not recording:
        return OFF
    if track_memory and memory_span_factory is not None:
        return memory_span_factory(name, phase)
    span = Span.__new__(Span)
    span.label = label_at_site(name, phase)
    return span


def span_of_kind(name, phase, uint32_t kind):
    """A span whose own cost is calibrated as `kind`: decorators and probes use it."""
    cdef Span span
    if not recording:
        return OFF
    span = Span.__new__(Span)
    span.label = find_label(name, phase, kind)
    return span


# --- counters --------------------------------------------------------------------------------------------------------

@cython.final
@cython.no_gc
cdef class Counter:
    cdef str name
    cdef double amount
    cdef uint64_t calls
    cdef double whole  # since the start, for iterations


cdef Counter STEPS = Counter.__new__(Counter)
STEPS.name = "env_steps"
counters["env_steps"] = STEPS


def count(name, amount=1):
    """Add to a counter: `count("env_steps", 256)`. env_steps, episodes and updates make the throughput figures."""
    cdef PyObject *found
    cdef Counter counter
    cdef double value
    global amounts_refused
    if not recording:
        return
    try:
        value = amount
        found = PyDict_GetItem(counters, name)
    except Exception:  # a tensor, a string, None: no reason to stop a training program
        amounts_refused += 1
        return
    if not isfinite(value):
        amounts_refused += 1
        return
    if found == NULL:
        if type(name) is not str or len(counters) >= 1024:
            amounts_refused += 1
            return
        counter = Counter.__new__(Counter)
        counter.name = name
        counters[name] = counter
    else:
        counter = <Counter>found
    counter.amount += value
    counter.whole += value
    counter.calls += 1


# --- iterations, the schedule and the flight recorder ----------------------------------------------------------------

@cython.final
@cython.no_gc
cdef class _Turn:
    """What `iteration()` returns: nothing more to do, or a `with` block that ends the iteration early."""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if recording:
            end_turn(here(), now())


cdef _Turn TURN = _Turn.__new__(_Turn)


def iteration():
    """Mark a turn of the training loop: ends the running iteration, if any, and begins the next one."""
    cdef ThreadRecord *record
    cdef Node *node
    cdef int64_t t
    global leader, leader_lane, turn_index, turn_start, turn_steps
    if not recording:
        return TURN
    record = here()
    t = now()
    if leader == NULL:
        leader = record
        leader_lane = record.lane.root.lane
    end_turn(record, t)
    node = innermost(record)
    book(record, t)
    push(record, find_child(node, TURN_LABEL.id), NULL, t)
    if record == leader:
        turn_index += 1
        turn_start = t
        turn_steps = STEPS.whole
        empty_flight()
        follow_schedule()
    return TURN


cdef void end_turn(ThreadRecord *record, int64_t t) noexcept:
    """Close the innermost open iteration of this thread; spans still open inside it stay open."""
    global turn_fill, turns_dropped, turns_closed
    cdef Stack *stack = record.current
    cdef Frame *frame
    cdef int i = stack.depth - 1
    while i >= 0 and stack.frames[i].span != NULL:
        i -= 1
    if i < 0:
        return
    if record == leader:
        turns_closed += 1
        if turn_fill < MAX_TURNS:
            turns[turn_fill].start = turn_start
            turns[turn_fill].duration = t - turn_start
            turns[turn_fill].env_steps = STEPS.whole - turn_steps
            turn_fill += 1
        else:
            turns_dropped += 1
    close_in_stack(record, stack, NULL, t, True)
    if record == leader and slow_room:
        keep_if_slow(t - turn_start)


cdef void follow_schedule() noexcept:
    global logging_events
    cdef int64_t cycle = wait_turns + warmup_turns + active_turns
    if active_turns == 0:
        return
    if repeat_turns > 0 and turn_index >= cycle * repeat_turns:
        logging_events = False
        return
    logging_events = turn_index % cycle >= wait_turns + warmup_turns


cdef void log_event(uint32_t path, int64_t start, int64_t duration) noexcept:
    global chunk, chunk_fill, events_emitted, events_dropped
    events_emitted += 1
    if chunk == NULL:
        chunk = <Event *>malloc(CHUNK * sizeof(Event))
    if chunk == NULL or chunk_fill >= CHUNK:
        events_dropped += 1
        return
    chunk[chunk_fill].path = path
    chunk[chunk_fill].start = start
    chunk[chunk_fill].duration = duration
    chunk_fill += 1
    if chunk_fill == CHUNK and len(full_chunks) < MAX_CHUNKS:
        hand_over_chunk()


cdef void hand_over_chunk() noexcept:
    global chunk_fill
    try:
        full_chunks.append((<char *>chunk)[:chunk_fill * sizeof(Event)])
    except MemoryError:
        return
    chunk_fill = 0


cdef void keep_in_flight(uint32_t path, int64_t start, int64_t duration) noexcept:
    """Keep the spans of this iteration; when they are too many, the shortest go first."""
    global flight, flight_fill, flight_floor, flight_elided
    cdef uint32_t i, kept
    if duration < flight_floor or flight == NULL:
        flight_elided += 1
        return
    while flight_fill == FLIGHT:
        flight_floor = flight_floor * 2 if flight_floor else 500
        kept = 0
        for i in range(flight_fill):
            if flight[i].duration >= flight_floor:
                flight[kept] = flight[i]
                kept += 1
        flight_elided += flight_fill - kept
        flight_fill = kept
        if duration < flight_floor:
            flight_elided += 1
            return
    flight[flight_fill].path = path
    flight[flight_fill].start = start
    flight[flight_fill].duration = duration
    flight_fill += 1


cdef void keep_if_slow(int64_t duration) noexcept:
    global slow_count
    cdef int at = 0, i
    cdef Event *log
    if slow_count < slow_room:
        at = slow_count
    else:
        for i in range(1, slow_count):
            if slow[i].duration < slow[at].duration:
                at = i
        if duration <= slow[at].duration:
            at = -1
    if at >= 0:
        log = <Event *>malloc((flight_fill + 1) * sizeof(Event))
        if log != NULL:
            memcpy(log, flight, flight_fill * sizeof(Event))
            if at == slow_count:
                slow_count += 1
            else:
                free(slow[at].log)
            slow[at].index = turn_index
            slow[at].start = turn_start
            slow[at].duration = duration
            slow[at].elided = flight_elided
            slow[at].elided_below = flight_floor
            slow[at].events = flight_fill
            slow[at].log = log
            slow[at].fresh = True


cdef void empty_flight() noexcept:
    global flight_fill, flight_floor, flight_elided
    flight_fill = 0
    flight_floor = 0
    flight_elided = 0


# --- what the recorder around it uses --------------------------------------------------------------------------------

def configure(*, phases, schedule=None, int keep_slowest=5, memory_span=None, bad_phase=None):
    """Set what holds for the whole session. `schedule` is (wait, warmup, active, repeat) in iterations."""
    global known_phases, memory_span_factory, on_bad_phase, slow_room, flight
    global wait_turns, warmup_turns, active_turns, repeat_turns
    known_phases = frozenset(phases)
    memory_span_factory = memory_span
    on_bad_phase = bad_phase
    slow_room = min(keep_slowest, MAX_SLOW)
    if slow_room and flight == NULL:
        flight = <Event *>malloc(FLIGHT * sizeof(Event))
    wait_turns, warmup_turns, active_turns, repeat_turns = schedule if schedule else (0, 0, 0, 0)


def switch_on(main_thread_ident):
    """Begin to record, or go on after `switch_off`. The calling thread's time counts from now."""
    global recording, resumed, main_ident
    cdef ThreadRecord *record
    if recording:
        return
    main_ident = main_thread_ident
    here()
    resumed = now()
    record = records
    while record != NULL:
        record.last = resumed
        record = record.next
    recording = True


def switch_off():
    """Stop recording. Spans that are open are still counted when they close."""
    global recording, recorded_ns
    cdef int64_t t = now()
    if recording:
        book_all(t)
        recorded_ns += t - resumed
        recording = False


cdef void book_all(int64_t t) noexcept:
    cdef ThreadRecord *record = records
    while record != NULL:
        book(record, t)
        record = record.next


def is_on():
    return recording


def clock_ns():
    """The monotonic clock that all times in a recording are on."""
    return now()


def set_fake_clock(value):
    """Stand the clock still at `value` ns, for tests; None lets it run again."""
    global fake_clock, fake_now
    fake_clock = value is not None
    fake_now = value if fake_clock else 0


def wipe():
    """Forget everything measured, and every open span: at a reset, and in a child process after fork."""
    global node_count, lane_count, records, last_record, last_state, last_serial, leader, leader_lane, turn_index
    global chunk_fill, events_emitted, events_dropped, turn_fill, turns_dropped, turns_closed, slow_count
    global spans_closed, spans_abandoned, exits_unmatched, spans_folded
    global amounts_refused, recorded_ns, recording, logging_events, last_rss
    cdef ThreadRecord *record = records
    cdef ThreadRecord *after
    cdef Stack *stack
    cdef uint32_t i
    recording = False
    records = last_record = leader = NULL
    last_state = NULL
    last_serial = 0
    while record != NULL:
        after = record.next
        while record.base != NULL:
            stack = record.base
            record.base = stack.next
            free_stack(stack)
        free(record)
        record = after
    for i in range(node_count):
        free(nodes[i])
        nodes[i] = NULL
    memset(children, 0, sizeof(children))
    memset(lanes, 0, sizeof(lanes))
    node_count = lane_count = 0
    for i in range(<uint32_t>slow_count):
        free(slow[i].log)
    slow_count = 0
    leader_lane = turn_index = -1
    chunk_fill = turn_fill = 0
    full_chunks.clear()
    empty_flight()
    events_emitted = events_dropped = turns_dropped = turns_closed = 0
    spans_closed = spans_abandoned = exits_unmatched = spans_folded = amounts_refused = 0
    recorded_ns = last_rss = 0
    logging_events = False
    counters.clear()
    STEPS.amount = STEPS.whole = 0
    STEPS.calls = 0
    counters["env_steps"] = STEPS


def drain():
    """Hand over what changed since the last call, in one piece.

    Returns (now, rows, bins, open spans, counters, iterations, totals): packed bytes of Row, Bin, OpenSpan and Turn,
    a list of (name, amount, calls), and a dict of running totals.
    """
    global turn_fill
    cdef int64_t t = now()
    cdef uint32_t i, b, filled = 0, bins = 0, opened = 0
    cdef Node *node
    cdef Row *rows
    cdef Bin *all_bins
    cdef OpenSpan *all_open
    cdef ThreadRecord *record
    cdef Stack *stack
    cdef Counter counter
    cdef uint64_t closed
    if recording:
        book_all(t)
    for i in range(node_count):
        node = nodes[i]
        if node.count:
            for b in range(BUCKETS):
                if node.histogram[b]:
                    bins += 1
    record = records
    while record != NULL:
        stack = record.base
        while stack != NULL:
            opened += stack.depth
            stack = stack.next
        record = record.next
    rows = <Row *>malloc((node_count + 1) * sizeof(Row))
    all_bins = <Bin *>malloc((bins + 1) * sizeof(Bin))
    all_open = <OpenSpan *>malloc((opened + 1) * sizeof(OpenSpan))
    if rows == NULL or all_bins == NULL or all_open == NULL:
        free(rows); free(all_bins); free(all_open)
        raise MemoryError
    closed = spans_closed
    bins = opened = 0
    for i in range(node_count):
        node = nodes[i]
        if not (node.count or node.own or node.charged or node.rss_peak or node.exact or node.device_rise):
            continue
        take_row(node, &rows[filled])
        if node.count:
            for b in range(BUCKETS):
                if node.histogram[b]:
                    all_bins[bins].row = filled
                    all_bins[bins].bucket = b
                    all_bins[bins].count = node.histogram[b]
                    bins += 1
            memset(node.histogram, 0, sizeof(node.histogram))
        node.count = 0
        filled += 1
    record = records
    while record != NULL:
        stack = record.base
        while stack != NULL:
            for i in range(<uint32_t>stack.depth):
                if not stack.frames[i].folded:
                    all_open[opened].path = stack.frames[i].node.id
                    all_open[opened].start = stack.frames[i].start
                    opened += 1
            stack = stack.next
        record = record.next
    # From here on objects are made, which may run a collection and with it a finaliser that closes spans: the
    # copies above are whole, so whatever that does belongs to the next drain.
    totals = _totals(t, closed)
    changed = []
    for counter in list(counters.values()):
        if counter.calls:
            changed.append((counter.name, counter.amount, counter.calls))
            counter.amount = 0
            counter.calls = 0
    iterations = (<char *>turns)[:turn_fill * sizeof(Turn)]
    turn_fill = 0
    row_bytes = (<char *>rows)[:filled * sizeof(Row)]
    bin_bytes = (<char *>all_bins)[:bins * sizeof(Bin)]
    open_bytes = (<char *>all_open)[:opened * sizeof(OpenSpan)]
    free(rows); free(all_bins); free(all_open)
    return t, row_bytes, bin_bytes, open_bytes, changed, iterations, totals


cdef void take_row(Node *node, Row *row) noexcept:
    row.path = node.id
    row.exact = node.exact
    row.count = node.count
    row.total = node.total
    row.own = node.own
    row.shortest = node.shortest
    row.longest = node.longest
    row.charged = node.charged
    row.rss_peak = node.rss_peak
    row.rss_rise = node.rss_rise
    row.device_rise = node.device_rise
    node.total = node.own = node.shortest = node.longest = node.charged = 0
    node.rss_peak = node.rss_rise = node.device_rise = 0
    node.exact = 0


cdef dict _totals(int64_t t, uint64_t closed):
    return {
        "recorded_ns": recorded_ns + (t - resumed if recording else 0),
        "iteration_lane": None if leader_lane < 0 else leader_lane,
        "iterations": turns_closed,
        "spans_emitted": closed,
        "spans_abandoned": spans_abandoned,
        "spans_folded": spans_folded,
        "exits_unmatched": exits_unmatched,
        "amounts_refused": amounts_refused,
        "iterations_dropped": turns_dropped,
        "events_emitted": events_emitted,
        "events_dropped": events_dropped,
    }


def drain_events():
    """All logged events since the last call, as a list of packed bytes of Event."""
    if chunk_fill:
        hand_over_chunk()
    taken = list(full_chunks)
    full_chunks.clear()
    return taken


def drain_slow_iterations():
    """The slowest iterations that are new since the last call, and the indices of all that are kept."""
    fresh = []
    kept = []
    cdef int i
    for i in range(slow_count):
        kept.append(slow[i].index)
        if slow[i].fresh:
            slow[i].fresh = False
            fresh.append((slow[i].index, slow[i].start, slow[i].duration, slow[i].elided, slow[i].elided_below,
                          (<char *>slow[i].log)[:slow[i].events * sizeof(Event)]))
    return fresh, kept


def paths_since(uint32_t first):
    """(id, parent or None, lane, name, phase, kind) of every path from number `first` on."""
    found = []
    cdef uint32_t i
    cdef Label label
    for i in range(first, node_count):
        label = labels[nodes[i].label]
        found.append((nodes[i].id, None if nodes[i].parent == NULL else nodes[i].parent.id, nodes[i].lane,
                      label.name, label.phase, label.kind))
    return found


def lanes_since(uint32_t first):
    """(number, thread ident, shared by several threads, main) of every lane from number `first` on."""
    cdef uint32_t i
    return [(i, lanes[i].ident, i == MAX_LANES - 1, lanes[i].ident == main_ident) for i in range(first, lane_count)]


def open_paths():
    """The path that is innermost now in each thread, by thread ident."""
    cdef ThreadRecord *record = records
    found = {}
    while record != NULL:
        found[record.ident] = innermost(record).id
        record = record.next
    return found


def open_path_here():
    """The path that is innermost now in the calling thread."""
    return innermost(here()).id


def reap(live_idents):
    """Forget threads that have ended, once all their spans are closed. Their statistics stay."""
    global last_record, last_state, last_serial, leader
    cdef ThreadRecord *record = records
    cdef ThreadRecord *before = NULL
    cdef ThreadRecord *after
    cdef int64_t t = now()
    while record != NULL:
        after = record.next
        if record.ident not in live_idents and record.base.depth == 0 and record.base.next == NULL:
            if recording:
                book(record, t)
            unlink(before, record)
            if record == leader:
                leader = NULL
            free_stack(record.base)
            free(record)
        else:
            before = record
        record = after
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


def sizes():
    """Bytes of the packed records and the shape of the histogram, for whoever reads them."""
    return {"Row": sizeof(Row), "Bin": sizeof(Bin), "OpenSpan": sizeof(OpenSpan), "Turn": sizeof(Turn),
            "Event": sizeof(Event), "buckets": BUCKETS, "max_paths": MAX_NODES}
