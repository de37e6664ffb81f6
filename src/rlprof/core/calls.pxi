# Calls that are looked at without a frame of ours in between.

cdef extern from "Python.h":
    PyObject *PyObject_Vectorcall(PyObject *, PyObject **, size_t, PyObject *) except NULL
    PyObject *call_through "PyObject_Vectorcall"(PyObject *, PyObject **, size_t, PyObject *) noexcept
    object PyMethod_New(object, object)
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_Restore(PyObject *, PyObject *, PyObject *) noexcept

cdef enum:
    KIND_LEVEL = 9
    UNSEEN = -1  # of a call whose cost is not looked at

ctypedef PyObject *(*call_step)(PyObject *, PyObject **, size_t, PyObject *) except NULL

cdef PyObject *level_of = NULL  # the object whose method runs: one that calls its base class's is still the same level


cdef PyObject *call_forward_pass(PyObject *original, PyObject **args, size_t count, PyObject *names) noexcept:
    """Call, and let through at once what modules are called inside."""
    global forward_in, forward_passed
    cdef PyThreadState *state = PyThreadState_Get()
    cdef PyObject *result
    forward_in = state
    result = call_through(original, args, count, names)
    if forward_in == state:  # else a child process, or a reset, has begun anew
        forward_in = NULL
        if last_state == state and last_record != NULL:
            last_record.passed += forward_passed
        forward_passed = 0
    return result


cdef PyObject *call_inside(ThreadRecord *record, Node *child, bint folded, PyObject *owner, uint32_t group, int64_t t,
                           int64_t before, PyObject *original, PyObject **args, size_t count,
                           PyObject *names) except? NULL:
    """Call with a span around it, which begins at `t`. `owner` stands for the span. What the recorder takes for it is
    looked at where it took `before` ahead of the span, and not where that is UNSEEN."""
    cdef PyObject *result
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *traceback
    open_at(record, child, folded, owner, group, t)
    if before != UNSEEN:
        t = now() - t
    if group and group == forward_group and forward_in == NULL:  # else it may be another thread's, in the middle of it
        result = call_forward_pass(original, args, count, names)
    else:
        result = call_through(original, args, count, names)
    if result != NULL:
        close_owner(owner)
        if before != UNSEEN:
            see_span(child, t, before + now() - closed_at)
        return result
    PyErr_Fetch(&kind, &value, &traceback)
    try:
        close_owner(owner)
    finally:
        PyErr_Restore(kind, value, traceback)
    return NULL


cdef inline PyObject *call_in_span(ThreadRecord *record, Node *child, bint folded, PyObject *owner, uint32_t group,
                                   int64_t looked, PyObject *original, PyObject **args, size_t count,
                                   PyObject *names) except? NULL:
    """The same for a span that begins now; `looked` is when the recorder was entered, where that is looked at, else 0."""
    cdef int64_t t = now()
    return call_inside(record, child, folded, owner, group, t, t - looked if looked else UNSEEN, original, args, count,
                       names)


cdef PyObject *call_untimed(ThreadRecord *record, Node *node, Node *child, uint32_t group, int64_t looked,
                            PyObject *original, PyObject **args, size_t count, PyObject *names) except? NULL:
    """Count a call, and look at nothing inside it."""
    count_untimed(node, child)
    if looked:
        see_call(KIND_UNTIMED, looked)
    return call_muted(record, group, original, args, count, names)


cdef PyObject *call_muted(ThreadRecord *record, uint32_t group, PyObject *original, PyObject **args, size_t count,
                          PyObject *names) except? NULL:
    """Look at nothing inside a call. Its group is held all the same: those who only count ask what is around them."""
    cdef PyObject *result
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *traceback
    record.muted += 1
    if group:
        hold(record, group)
    result = call_through(original, args, count, names)
    if result != NULL:
        unmute(group)
        return result
    PyErr_Fetch(&kind, &value, &traceback)
    try:
        unmute(group)
    finally:
        PyErr_Restore(kind, value, traceback)
    return NULL


cdef int unmute(uint32_t group) except -1:
    cdef ThreadRecord *record = here()
    if record.muted:  # else a child process, or a reset, has begun anew
        record.muted -= 1
        if group:
            release(record, group)
    return 0


@cython.final
cdef class Timed:
    """A function that somebody else wrote, with a span around each call.

    With a `group`, only around the outermost call of that group. Without a `name`, methods: named by the object's
    class, and inside another call of their group they have no phase. `before()` is called ahead of the span (of one
    that `steps` environments, only where somebody waits for it: see `settle_steps`),
    `after(first argument, result)` behind it, not in what is inside another call of the group. One that is to be kept
    `whole` is never thinned out: what happens inside is not always the same.
    """

    cdef call_step step  # what the interpreter calls; the first field, as in rlprof_span
    cdef object original
    cdef object name
    cdef object phase
    cdef uint32_t kind
    cdef uint32_t group
    cdef object before
    cdef object after
    cdef bint steps
    cdef bint whole
    cdef Label label
    cdef Label inner_label
    cdef object seen_type
    cdef dict __dict__

    def __init__(self, original, name, phase, uint32_t kind, uint32_t group=0, *, before=None, after=None, bint steps=False,
                 bint whole=False):
        if group >= MAX_GROUPS:
            raise ValueError(group)
        self.original = original
        self.name = name
        self.phase = phase
        self.kind = kind
        self.group = group
        self.before = before
        self.after = after
        self.steps = steps
        self.whole = whole
        self.step = call_timed

    def __call__(self, *args, **kwargs):
        """For whoever does not call `step` itself."""
        return call_slowly(<PyObject *>self, args, kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __reduce__(self):
        return _reduced(self, self.original)


cdef Label label_of(Timed self, PyObject *first, bint inner):
    """Labels are found at the first call: when a function is wrapped, the phases may not be known yet."""
    cdef object kind
    if self.name is not None:
        if self.label is None:
            self.label = find_label(self.name, self.phase, self.kind)
        return self.label
    kind = type(<object>first) if first != NULL else None
    if kind is not self.seen_type or self.label is None:
        self.seen_type = kind
        self.label = find_label(kind.__name__, self.phase, self.kind)
        self.inner_label = find_label(kind.__name__, None, self.kind)
    return self.inner_label if inner else self.label


cdef PyObject *call_timed(PyObject *timed, PyObject **args, size_t count, PyObject *names) except NULL:
    cdef Timed self = <Timed>timed
    cdef PyObject *original = <PyObject *>self.original
    cdef PyObject *first = args[0] if count & COUNT_MASK else NULL
    cdef ThreadRecord *record
    cdef Label label
    cdef Node *node
    cdef Node *child
    cdef PyObject *result
    cdef int64_t t, began = 0, looked = 0
    cdef bint folded = False, inner
    cdef uint32_t group = self.group
    if not recording:
        return PyObject_Vectorcall(original, args, count, names)
    if is_looked_at():
        looked = now()
    record = here()
    inner = group and record.busy[group]
    if inner and (self.name is not None or record.muted):
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    if not inner and (self.before is not None or self.after is not None):
        began = now()
        if self.steps:
            begin_step(record)
            if step_errand is not None:
                run_errand()
                record = here()
        if self.before is not None and not (self.steps and (record.settled or settle_alone(record))):
            try:
                self.before()
            except Exception as error:
                self.before = None
                say_hook_failed(self, error)
            record = here()
    if record.muted:
        result = call_muted(record, group, original, args, count, names)
        if result == NULL:
            return NULL
    else:
        label = label_of(self, first, inner)
        if inner:
            group = 0
        node = innermost(record)
        child = node_below(record, node, label.id, &folded)
        child.thinnable = not self.whole
        if child.every > 1 and goes_untimed(child):
            if began:
                node.charged += now() - began
            result = call_untimed(record, node, child, group, looked if not began else 0, original, args, count, names)
        else:
            t = now()
            if began:
                node.charged += t - began
            if looked:
                looked = (began if began else t) - looked  # what hooks take is charged already
            else:
                looked = UNSEEN
            result = call_inside(record, child, folded, timed, group, t, looked, original, args, count, names)
        if result == NULL:
            return NULL
    if self.after is not None and not inner:
        began = now()
        try:
            self.after(None if first == NULL else <object>first, <object>result)
        except Exception as error:
            self.after = None
            say_hook_failed(self, error)
        except:  # Ctrl-C, say, is the program's
            Py_XDECREF(result)
            raise
        if recording:
            innermost(here()).charged += now() - began
    return result


rlprof_call_like_a_method(Timed)


cdef int say_hook_failed(Timed self, object error) except -1:
    """What a probe makes of a call is our own affair: the call was good, and the program goes on."""
    from rlprof.record.complain import complain
    complain(f"hook of {self.name}", f"what {self.name} does is not followed any more: {error!r}")
    return 0


cdef object call_slowly(PyObject *timed, tuple args, dict kwargs):
    """Call `step` with arguments as they come from Python."""
    cdef size_t count = len(args)
    cdef size_t i = 0
    cdef PyObject *result
    cdef tuple names = tuple(kwargs)
    cdef PyObject **flat = <PyObject **>malloc((count + len(names) + 1) * sizeof(PyObject *))
    if flat == NULL:
        raise MemoryError
    for value in args:
        flat[i] = <PyObject *>value
        i += 1
    for name in names:
        flat[i] = PyDict_GetItem(kwargs, name)
        i += 1
    try:
        result = (<Timed>timed).step(timed, flat, count, <PyObject *>names if names else NULL)
    finally:
        free(flat)
    return take_over(result)


cdef object take_over(PyObject *result):
    given = <object>result
    Py_XDECREF(result)
    return given


cdef tuple as_it_was(object original):
    """How to send what was there before us, to a place where we may not be installed."""
    from operator import getitem
    return getitem, ((original,), 0)


cdef object _reduced(object self, object original):
    """A function of a module is found again by its name. A method of a class that is sent whole is what it was before us."""
    import sys
    found = sys.modules.get(getattr(self, "__module__", None))
    if found is None or found.__name__ == "__main__":
        return as_it_was(original)
    try:
        for part in self.__qualname__.split("."):
            found = getattr(found, part)
    except AttributeError:
        return as_it_was(original)
    return self.__qualname__ if found is self else as_it_was(original)


@cython.final
cdef class Levels:
    """A method of which the outermost call of a group goes to a function of its own. Those inside, on other objects, become
    spans named by class if they are to be `named`: environments wrap environments, many deep, and step a million times.
    """

    cdef call_step step
    cdef object outermost
    cdef readonly object original
    cdef readonly uint64_t calls_outermost
    cdef uint32_t group
    cdef bint named
    cdef object seen_type
    cdef Label label
    cdef dict __dict__

    def __init__(self, outermost, original, uint32_t group, bint named=True):
        if group >= MAX_GROUPS:
            raise ValueError(group)
        self.outermost = outermost
        self.original = original
        self.group = group
        self.named = named
        self.step = call_level

    def __call__(self, *args, **kwargs):
        """For whoever does not call `step` itself."""
        if args and recording and not here().busy[self.group]:
            self.calls_outermost += 1
            return self.outermost(*args, **kwargs)
        return self.original(*args, **kwargs)

    def __get__(self, instance, owner):
        if instance is None:
            return self if self.named else self.original
        return PyMethod_New(self if self.named else self.original, instance)

    def __reduce__(self):
        """Whoever sends a class to another process sends what it had there before."""
        return as_it_was(self.original)


cdef PyObject *call_level(PyObject *levels, PyObject **args, size_t count, PyObject *names) except NULL:
    global level_of
    cdef Levels self = <Levels>levels
    cdef PyObject *original = <PyObject *>self.original
    cdef PyObject *before = level_of
    cdef PyObject *result
    cdef ThreadRecord *record
    cdef Node *node
    cdef Node *child
    cdef bint folded = False
    cdef int64_t looked = 0
    if not recording or not count & COUNT_MASK:
        return PyObject_Vectorcall(original, args, count, names)
    record = here()
    if not record.busy[self.group]:
        self.calls_outermost += 1
        level_of = args[0]
        try:
            return PyObject_Vectorcall(<PyObject *>self.outermost, args, count, names)
        finally:
            level_of = before
    if is_looked_at():
        looked = now()
    node = innermost(record)
    if not self.named or record.muted or level_of == args[0]:
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    if type(<object>args[0]) is not self.seen_type:
        self.seen_type = type(<object>args[0])
        self.label = find_label(self.seen_type.__name__, None, KIND_LEVEL)
    child = node_below(record, node, self.label.id, &folded)
    child.thinnable = True
    level_of = args[0]
    try:
        if child.every > 1 and goes_untimed(child):
            result = call_untimed(record, node, child, 0, looked, original, args, count, names)
        else:
            result = call_in_span(record, child, folded, levels, 0, looked, original, args, count, names)
    finally:
        level_of = before
    return result


rlprof_call_like_a_method(Levels)

@cython.final
cdef class Observed:
    """A function, and somebody who is told of each call's positional arguments and result.

    Code that counts frames (`sys._getframe`, `warnings.warn` with a stack level) finds its own: a Python function in
    between would be one more.
    """

    cdef object original
    cdef object observer
    cdef dict __dict__

    def __init__(self, original, observer):
        self.original = original
        self.observer = observer

    def __call__(self, *args, **kwargs):
        result = self.original(*args, **kwargs)
        self.observer(args, result)
        return result
