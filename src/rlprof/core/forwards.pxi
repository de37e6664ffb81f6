# A network's forward pass: only the outermost call is one; whether it acts or learns is told by its gradients.

cdef enum:
    KIND_PROBE = 7


@cython.final
cdef class Forward:
    """The call of a module. Classes, copies and compilers find the original.

    `groups` are those of forwards, losses, training and evaluation. `begins(code, place)` is asked at a forward with
    gradients outside of a loss: whether that place is known to act; if not, the loss begins with it. It is told (None, 0)
    of one without gradients that training as a whole is around.
    """

    cdef call_step step
    cdef object original
    cdef object has_gradients
    cdef object is_compiling
    cdef object begins
    cdef uint32_t forward, loss, train, evaluate
    cdef Label acting, learning, plain
    cdef dict __dict__

    def __init__(self, original, has_gradients, is_compiling, begins, groups):
        self.forward, self.loss, self.train, self.evaluate = groups
        if max(groups) >= MAX_GROUPS:
            raise ValueError(groups)
        self.original = original
        self.has_gradients = has_gradients
        self.is_compiling = is_compiling
        self.begins = begins
        self.step = call_forward

    def __call__(self, *args, **kwargs):
        """For whoever does not call `step` itself."""
        return call_slowly(<PyObject *>self, args, kwargs)

    def __get__(self, instance, owner):
        return self.original if instance is None else PyMethod_New(self.original, instance)

    def __reduce__(self):
        return as_it_was(self.original)


cdef Label label_of_forward(Forward self, ThreadRecord *record):
    cdef PyObject *code
    cdef size_t at
    if self.acting is None:  # the phases are known by now
        self.learning = find_label("forward", "learn.loss", KIND_PROBE)
        self.plain = find_label("forward", None, KIND_PROBE)
        self.acting = find_label("forward", "policy.forward", KIND_PROBE)
    if self.has_gradients():
        if record.busy[self.loss]:
            return self.learning
        rlprof_find_caller(PyThreadState_Get(), &code, &at)
        if code == NULL or not self.begins(<object>code, at):
            return self.learning
        record = here()
    if record.busy[self.evaluate]:
        return self.plain
    # A target network has no gradients either, but it is asked in the middle of learning.
    if record.busy[self.loss]:
        return self.learning
    if record.busy[self.train]:
        self.begins(None, 0)
        return self.learning
    return self.acting


cdef PyObject *call_forward(PyObject *forward, PyObject **args, size_t count, PyObject *names) except NULL:
    cdef Forward self = <Forward>forward
    cdef PyObject *original = <PyObject *>self.original
    cdef ThreadRecord *record
    cdef Node *node
    cdef Node *child
    cdef Label label
    cdef bint folded = False
    if not recording:
        return PyObject_Vectorcall(original, args, count, names)
    record = here()
    if record.busy[self.forward] or record.muted:
        innermost(record).charged += pass_ns
        return PyObject_Vectorcall(original, args, count, names)
    if self.is_compiling():
        return PyObject_Vectorcall(original, args, count, names)
    label = label_of_forward(self, record)
    record = here()
    node = innermost(record)
    child = node_below(record, node, label.id, &folded)
    child.thinnable = True
    if child.every > 1 and goes_untimed(child):
        return call_untimed(record, node, child, self.forward, original, args, count, names)
    return call_inside(record, child, folded, forward, self.forward, now(), original, args, count, names)


rlprof_call_like_a_method(Forward)
