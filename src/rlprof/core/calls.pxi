# Calls that are looked at without a frame of ours in between.

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
