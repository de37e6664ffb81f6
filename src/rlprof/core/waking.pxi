# Having the main thread look at what was asked of it.
#
# Up to 3.12, a pending call that another thread adds is not looked at before something else makes the main thread look:
# the interpreter asks whether the thread that adds it could handle it. A sample would then be taken where the program
# next gives up the interpreter lock, far from where it was asked for. So the flag is set from here.

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030D0000 && !defined(PYPY_VERSION)
    #ifndef Py_BUILD_CORE
    #define Py_BUILD_CORE 1  /* the interpreter's own headers ask for it */
    #endif
    #undef _PyGC_FINALIZED  /* which they define in another way */
    #include <internal/pycore_interp.h>
    static _Py_atomic_int *rlprof_breaker = NULL;
    static void rlprof_find_breaker(void) { rlprof_breaker = &PyInterpreterState_Main()->ceval.eval_breaker; }
    static inline void rlprof_wake_main(void) { if (rlprof_breaker) _Py_atomic_store_relaxed(rlprof_breaker, 1); }
    #else
    static void rlprof_find_breaker(void) {}
    static inline void rlprof_wake_main(void) {}
    #endif
    """
    void rlprof_find_breaker() noexcept
    void rlprof_wake_main() noexcept nogil
