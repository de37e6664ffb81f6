# Who calls a function of ours, told by addresses: making a frame object for it would cost as much as a span.

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030B0000
    #include <frameobject.h>
    static inline void rlprof_find_caller(PyThreadState *state, PyObject **code, size_t *at) {
        *code = state->frame ? (PyObject *)state->frame->f_code : NULL;
        *at = state->frame ? (size_t)state->frame->f_lasti : 0;
    }
    #elif PY_VERSION_HEX < 0x030E0000 && !defined(PYPY_VERSION)
    /* The beginning of the interpreter's own frames. Its header for them is not for extensions. */
    #if PY_VERSION_HEX < 0x030C0000
    typedef struct { void *function, *globals, *builtins, *locals; PyObject *code; void *object, *previous, *at; } rlprof_frame;
    #else
    typedef struct { PyObject *code; void *previous, *function, *globals, *builtins, *locals, *object, *at; } rlprof_frame;
    #endif
    #if PY_VERSION_HEX < 0x030D0000
    #define rlprof_running(state) ((rlprof_frame *)(state)->cframe->current_frame)
    #else
    #define rlprof_running(state) ((rlprof_frame *)(state)->current_frame)
    #endif
    static inline void rlprof_find_caller(PyThreadState *state, PyObject **code, size_t *at) {
        rlprof_frame *frame = rlprof_running(state);
        *code = frame ? frame->code : NULL;
        *at = frame ? (size_t)frame->at : 0;
    }
    #else
    static inline void rlprof_find_caller(PyThreadState *state, PyObject **code, size_t *at) {
        PyFrameObject *frame = PyThreadState_GetFrame(state);
        *code = NULL;
        *at = 0;
        if (frame == NULL) return;
        *code = (PyObject *)PyFrame_GetCode(frame);
        *at = (size_t)PyFrame_GetLasti(frame);
        Py_DECREF(*code);  /* what runs stays */
        Py_DECREF(frame);
    }
    #endif
    """
    void rlprof_find_caller(PyThreadState *, PyObject **code, size_t *at) noexcept


def caller():
    """The code that calls this, and a number for the place in it; for tests of what the core sees."""
    cdef PyObject *code
    cdef size_t at
    rlprof_find_caller(PyThreadState_Get(), &code, &at)
    return (None if code == NULL else <object>code), at
