# Spans: opening and closing, in order and out of it.

cdef class _Itself:
    """A descriptor that gives the instance: the interpreter then calls the span itself on entry and on exit.

    Binding two methods per `with` would cost as much as the rest of a span.
    """

    def __get__(self, instance, owner):
        return _unbound_step if instance is None else instance


def _unbound_step(span, *args):
    return span(*args)


rlprof_find_quickly(_Itself)


ctypedef object (*span_step)(object, PyObject **, size_t, PyObject *)

cdef enum:
    COUNT_MASK = 0xFFFF  # above it, the count of arguments carries a flag


@cython.final
@cython.no_gc
cdef class Span:
    """One timed stretch of work. `with` calls it with nothing on entry and with three arguments on exit."""

    cdef span_step step  # what the interpreter calls; these four fields are those of rlprof_span
    cdef Label label
    cdef uint32_t opened
    cdef uint32_t group

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


cdef object enter_or_exit(object span, PyObject **args, size_t count, PyObject *names):
    """What __call__ does, for an interpreter that passes arguments without a tuple around them."""
    if count & COUNT_MASK:
        close_span(<Span>span)
        return None
    open_span(<Span>span)
    return span


if not rlprof_speed_up_spans(Span):
    raise ImportError("rlprof was built wrongly: a span does not have the size it should")


cdef Span new_span(Label label):
    cdef PyObject *spare = rlprof_spare_span(label)
    cdef Span span
    if spare != NULL:
        span = <Span>spare
        Py_XDECREF(spare)  # the variable holds its own reference
        return span
    span = Span.__new__(Span)
    span.label = label
    span.step = enter_or_exit
    return span


cdef inline Node *node_below(ThreadRecord *record, Node *node, uint32_t label, bint *folded) noexcept:
    """The path of a span with this label that opens now inside `node`."""
    global spans_folded
    cdef Seen *seen = &node.seen[label % SEEN]
    if seen.label == label and seen.child != NULL:
        return seen.child
    if record.current.depth >= MAX_DEPTH:
        folded[0] = True
        spans_folded += 1
        return node
    return find_child(node, label)


cdef inline bint open_at(ThreadRecord *record, Node *child, bint folded, PyObject *owner, uint32_t group,
                         int64_t t) noexcept:
    """Open a span at `t`. Whoever closes it calls it by its `owner`, the span itself or what stands for it."""
    cdef Frame *frame
    book(record, t)
    frame = push(record, child, owner, t)
    if frame == NULL:
        return False
    frame.folded = folded
    if group:
        frame.group = group
        hold(record, group)
    return True


cdef inline int close_owner(PyObject *owner) except -1:
    cdef int64_t t = now()
    cdef ThreadRecord *record = here()
    cdef Frame *frame
    global exits_unmatched, closed_at
    closed_at = t
    if record.current.depth > 0:
        frame = &record.current.frames[record.current.depth - 1]
        if frame.span == owner:
            book_on(frame.node, record, t)
            record.current.depth -= 1
            finish(record, frame, t)
            return 0
    if not close_elsewhere(record, owner, t):
        exits_unmatched += 1
    return 0


cdef inline int open_span(Span span) except -1:
    cdef ThreadRecord *record = here()
    cdef bint folded = False
    cdef Node *child = node_below(record, innermost(record), span.label.id, &folded)
    if open_at(record, child, folded, <PyObject *>span, span.group, now()):
        span.opened += 1
    return 0


cdef inline int close_span(Span span) except -1:
    global exits_unmatched
    if not span.opened:
        exits_unmatched += 1
        return 0
    close_owner(<PyObject *>span)
    span.opened -= 1
    return 0


cdef bint close_in_stack(ThreadRecord *record, Stack *stack, PyObject *span, int64_t t, bint counts) noexcept:
    """Take the newest frame of `span` out of a stack, wherever it lies in it."""
    cdef int i = stack.depth - 1
    cdef Frame frame
    while i >= 0:
        if stack.frames[i].span == span:
            # An iteration cannot outlive the span it was begun in; left open, the next one would nest inside it.
            if span != NULL and stack == record.current:
                end_turns_above(record, i, t)
            book(record, t)
            frame = stack.frames[i]
            memmove(&stack.frames[i], &stack.frames[i + 1], (stack.depth - 1 - i) * sizeof(Frame))
            stack.depth -= 1
            if counts:
                finish(record, &frame, t)
            elif frame.group:
                release(record, frame.group)
            return True
        i -= 1
    return False


cdef void end_turns_above(ThreadRecord *record, int i, int64_t t) noexcept:
    cdef int j = record.current.depth - 1
    while j > i:
        if record.current.frames[j].span == NULL:
            end_turn(record, t)
            j = record.current.depth
        j -= 1


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
                if stack.depth == 0 and stack != record.base and stack != record.current:
                    drop_stack(record, stack)
                return True
            stack = stack.next
        record = record.next
    return False


cdef void abandon(PyObject *span) noexcept:
    """A span was thrown away while open: its time stays where it was booked, and the loss is counted."""
    global spans_abandoned
    while close_elsewhere(NULL, span, now(), False):
        spans_abandoned += 1


@cython.final
cdef class _Off:
    """What `profile` returns while recording is off."""

    __enter__ = rlprof_function(1, __name__)
    __exit__ = rlprof_function(2, __name__)


cdef _Off OFF = _Off.__new__(_Off)


cdef object span_at_site(object name, object phase):
    return new_span(label_at_site(name, phase))


def _recorded_span(name, *, phase=None, track_memory=False):
    if track_memory and memory_span_factory is not None:
        return memory_span_factory(name, phase)
    return span_at_site(name, phase)


rlprof_set_spans(OFF, _recorded_span, span_at_site)
profile = rlprof_function(0, __name__)


def span_of_kind(name, phase, uint32_t kind):
    """A span whose own cost is calibrated as `kind`: decorators and probes use it."""
    return new_span(find_label(name, phase, kind)) if recording and not here().muted else OFF


def guarded_span(name, phase, uint32_t kind, uint32_t group):
    """A span of a group of which one is enough: inside another of its group, in the same thread, it is nothing.

    Environments wrap environments and modules call modules: only the outermost call is the step, or the forward.
    """
    cdef Span span
    cdef ThreadRecord *record
    if group >= MAX_GROUPS:
        raise ValueError(group)
    if not recording:
        return OFF
    record = here()
    if record.busy[group] or record.muted:
        return OFF
    span = new_span(find_label(name, phase, kind))
    span.group = group
    return span


def is_busy(uint32_t group):
    """Whether a guarded span would be nothing here: one of its group is open, or recording is off."""
    if group >= MAX_GROUPS:
        raise ValueError(group)
    return not recording or here().busy[group] > 0


cdef inline Span open_guarded(Label label, uint32_t group):
    """The same, opened at once; whoever asks has looked whether one is open."""
    cdef Span span = new_span(label)
    span.group = group
    open_span(span)
    return span
