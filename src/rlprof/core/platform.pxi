# The clock, and what tells threads and tasks apart: the only lines that depend on the system.

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

    /* Off, a span must cost next to nothing, so the first look is taken before any argument is parsed, and the functions
       that stand for entry and exit take whatever comes: they are not bound, and an ExitStack passes the span too. */
    static int rlprof_on = 0;
    static PyObject *rlprof_off_span = NULL;
    static PyObject *rlprof_recorded_span = NULL;
    static PyObject *(*rlprof_span_at_site)(PyObject *name, PyObject *phase) = NULL;
    static PyObject *rlprof_phase_word = NULL;
    static PyObject *rlprof_profile(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
        if (!rlprof_on) { Py_INCREF(rlprof_off_span); return rlprof_off_span; }
        if (n == 1) {  /* the two forms that programs use, without parsing */
            if (names == NULL) return rlprof_span_at_site(args[0], Py_None);
            if (PyTuple_GET_SIZE(names) == 1 && PyTuple_GET_ITEM(names, 0) == rlprof_phase_word)
                return rlprof_span_at_site(args[0], args[1]);
        }
        return PyObject_Vectorcall(rlprof_recorded_span, args, n, names);
    }
    static PyObject *rlprof_off_enter(PyObject *self, PyObject *const *args, Py_ssize_t n) {
        Py_INCREF(rlprof_off_span); return rlprof_off_span;
    }
    static PyObject *rlprof_off_exit(PyObject *self, PyObject *const *args, Py_ssize_t n) { Py_RETURN_NONE; }
    static PyMethodDef rlprof_functions[] = {
        {"profile", (PyCFunction)(void *)rlprof_profile, METH_FASTCALL | METH_KEYWORDS,
         "profile(name, *, phase=None, track_memory=False)\\n--\\n\\n"
         "Time a stretch of code: `with profile(\\"env_step\\", phase=\\"env.step\\"): ...`\\n\\n"
         "phase: which RL phase the time counts towards (see the docs for the list). Without one, the span belongs to\\n"
         "the phase of the span around it. track_memory: also measure the exact peak of resident memory during it."},
        {"__enter__", (PyCFunction)(void *)rlprof_off_enter, METH_FASTCALL, NULL},
        {"__exit__", (PyCFunction)(void *)rlprof_off_exit, METH_FASTCALL, NULL},
    };
    static PyObject *rlprof_function(int which, PyObject *module) {
        return PyCFunction_NewEx(&rlprof_functions[which], NULL, module);
    }
    static void rlprof_set_spans(PyObject *off, PyObject *recorded, PyObject *(*at_site)(PyObject *, PyObject *)) {
        Py_INCREF(off); Py_INCREF(recorded);
        rlprof_off_span = off; rlprof_recorded_span = recorded; rlprof_span_at_site = at_site;
        rlprof_phase_word = PyUnicode_InternFromString("phase");
    }
    """
    bint recording "rlprof_on"
    object rlprof_function(int, object)
    void rlprof_set_spans(object, object, object (*)(object, object))
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyThreadState_Get() noexcept
    int64_t rlprof_clock() noexcept
    PyObject *rlprof_context(PyThreadState *) noexcept
    uint64_t rlprof_thread_serial(PyThreadState *) noexcept
    uint64_t rlprof_thread_ident(PyThreadState *) noexcept
    int rlprof_octave(unsigned long long) noexcept
    object PyContext_CopyCurrent()
