# Calls that are looked at without a frame of ours in between.

cdef extern from "Python.h":
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    object PyMethod_New(object, object)

cdef enum:
    KIND_LEVEL = 9

cdef PyObject *level_of = NULL  # the object whose method runs: one that calls its base class's is still the same level


@cython.final
cdef class Levels:
    """A method of which the outermost call of a group goes to a function of its own. Those inside, on other objects, become
    spans named by class if they are to be `named`: environments wrap environments, many deep, and step a million times.
    """

    cdef span_step step  # what the interpreter calls; the first field, as in rlprof_span
    cdef object outermost
    cdef object original
    cdef uint32_t group
    cdef bint named
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
        """For interpreters that do not call `step` themselves."""
        if args and recording and not here().busy[self.group]:
            return self.outermost(*args, **kwargs)
        return self.original(*args, **kwargs)

    def __get__(self, instance, owner):
        if instance is None:
            return self if self.named else self.original
        return PyMethod_New(self if self.named else self.original, instance)

    def __reduce__(self):
        """Whoever sends a class to another process sends what it had there before."""
        return _same, (self.original,)


def _same(function):
    return function


cdef object call_level(object levels, PyObject **args, size_t count, PyObject *names):
    global level_of
    cdef Levels self = <Levels>levels
    cdef PyObject *before = level_of
    cdef Span span
    if not recording or not count & COUNT_MASK:
        return PyObject_Vectorcall(self.original, args, count, names)
    if not here().busy[self.group]:
        level_of = args[0]
        try:
            return PyObject_Vectorcall(self.outermost, args, count, names)
        finally:
            level_of = before
    if not self.named or level_of == args[0]:
        return PyObject_Vectorcall(self.original, args, count, names)
    span = new_span(find_label(type(<object>args[0]).__name__, None, KIND_LEVEL))
    level_of = args[0]
    open_span(span)
    try:
        return PyObject_Vectorcall(self.original, args, count, names)
    finally:
        close_span(span)
        level_of = before


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


@cython.final
cdef class Disguised:
    """A method that an object finds as ours and a class as the original.

    Programs look up `torch.Tensor.item` and compare it with the function they are asked to override.
    """

    cdef span_step step  # the first field, as in rlprof_span
    cdef object original
    cdef object ours

    def __init__(self, original, ours):
        self.original = original
        self.ours = ours
        self.step = call_disguised

    def __call__(self, *args, **kwargs):
        """For interpreters that do not call `step` themselves."""
        return self.ours(*args, **kwargs)

    def __get__(self, instance, owner):
        return self.original if instance is None else PyMethod_New(self.ours, instance)


cdef object call_disguised(object disguised, PyObject **args, size_t count, PyObject *names):
    return PyObject_Vectorcall((<Disguised>disguised).ours, args, count, names)


rlprof_call_like_a_method(Disguised)
