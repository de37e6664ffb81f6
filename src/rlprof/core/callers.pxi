# Who calls a function of ours, and who called that one, told by addresses: making a frame object for each would cost as
# much as a span.

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030B0000
    #include <frameobject.h>
    static inline void rlprof_find_caller(PyThreadState *state, PyObject **code, size_t *at) {
        *code = state->frame ? (PyObject *)state->frame->f_code : NULL;
        *at = state->frame ? (size_t)state->frame->f_lasti : 0;
    }
    static inline void rlprof_find_second_caller(PyThreadState *state, PyObject **code, size_t *at) {
        PyFrameObject *frame = state->frame ? state->frame->f_back : NULL;
        *code = frame ? (PyObject *)frame->f_code : NULL;
        *at = frame ? (size_t)frame->f_lasti : 0;
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
    /* Where C calls Python, Python 3.12 puts a frame of its own, which holds no code of the program's. */
    #if PY_VERSION_HEX >= 0x030C0000
    static inline int rlprof_is_shim(PyObject *code) {
        return !PyCode_Check(code) || PyUnicode_CompareWithASCIIString(((PyCodeObject *)code)->co_name, "<shim>") == 0
               || PyUnicode_CompareWithASCIIString(((PyCodeObject *)code)->co_name, "<interpreter trampoline>") == 0;
    }
    #endif
    static inline void rlprof_find_second_caller(PyThreadState *state, PyObject **code, size_t *at) {
        rlprof_frame *frame = rlprof_running(state);
        if (frame) frame = (rlprof_frame *)frame->previous;
    #if PY_VERSION_HEX >= 0x030C0000
        while (frame && rlprof_is_shim(frame->code)) frame = (rlprof_frame *)frame->previous;
    #endif
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
    static inline void rlprof_find_second_caller(PyThreadState *state, PyObject **code, size_t *at) {
        PyFrameObject *first = PyThreadState_GetFrame(state), *frame = first ? PyFrame_GetBack(first) : NULL;
        *code = NULL;
        *at = 0;
        Py_XDECREF(first);
        if (frame == NULL) return;
        *code = (PyObject *)PyFrame_GetCode(frame);
        *at = (size_t)PyFrame_GetLasti(frame);
        Py_DECREF(*code);
        Py_DECREF(frame);
    }
    #endif
    #if 0x030B0000 <= PY_VERSION_HEX && PY_VERSION_HEX < 0x030C0000 && !defined(PYPY_VERSION)
    /* The stack of a thread, innermost first: codes and how far each has come. Functions that have only just been
       called are not on it yet, as for Python itself. */
    static int rlprof_walk(PyThreadState *state, PyObject **codes, int *ats, int most) {
        rlprof_frame *frame = rlprof_running(state);
        int depth = 0;
        for (; frame != NULL && depth < most; frame = (rlprof_frame *)frame->previous) {
            PyCodeObject *code = (PyCodeObject *)frame->code;
            long at = (long)((char *)frame->at - (char *)code->co_code_adaptive);
            if (at < 2L * code->_co_firsttraceable) continue;
            codes[depth] = frame->code;
            ats[depth++] = (int)at;
        }
        return depth;
    }
    #else
    static int rlprof_walk(PyThreadState *state, PyObject **codes, int *ats, int most) { return -1; }
    #endif
    """
    void rlprof_find_caller(PyThreadState *, PyObject **code, size_t *at) noexcept
    void rlprof_find_second_caller(PyThreadState *, PyObject **code, size_t *at) noexcept
    int rlprof_walk(PyThreadState *, PyObject **codes, int *ats, int most) noexcept  # -1: only by frame objects


def caller():
    """The code that calls this, and a number for the place in it; for tests of what the core sees."""
    cdef PyObject *code
    cdef size_t at
    rlprof_find_caller(PyThreadState_Get(), &code, &at)
    return (None if code == NULL else <object>code), at
