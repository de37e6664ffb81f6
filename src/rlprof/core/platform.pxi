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
