# The clock, and what tells threads and tasks apart: the only lines that depend on the system.

cdef extern from *:
    """
    #include <stddef.h>
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
    /* The resident size by the quickest way there is, readable without the interpreter lock; -1 where there is none. */
    #ifdef __linux__
    #include <fcntl.h>
    #include <stdlib.h>
    #include <unistd.h>
    static int rlprof_statm = -1;
    static void rlprof_open_rss(void) {
        if (rlprof_statm >= 0) close(rlprof_statm);
        rlprof_statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    }
    static int64_t rlprof_rss(void) {
        char text[128];
        char *rest;
        long pages;
        ssize_t size = rlprof_statm < 0 ? -1 : pread(rlprof_statm, text, sizeof text - 1, 0);
        if (size <= 0) return -1;
        text[size] = 0;
        strtol(text, &rest, 10);  /* the first number is the virtual size */
        pages = strtol(rest, NULL, 10);
        return pages > 0 ? (int64_t)pages * sysconf(_SC_PAGESIZE) : -1;
    }
    #else
    static void rlprof_open_rss(void) {}
    static int64_t rlprof_rss(void) { return -1; }
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

    /* Spans are made and thrown away all the time. The interpreter calls one without a tuple around its arguments (each
       carries the function to call), and one that is thrown away closed is kept for the next, its label with it. */
    typedef struct { PyObject_HEAD void *step; PyObject *label; uint32_t opened; uint32_t group; } rlprof_span;
    static PyTypeObject *rlprof_span_type = NULL;
    static destructor rlprof_free_span = NULL;
    static rlprof_span *rlprof_spares[256];
    static int rlprof_spare_count = 0;
    static void rlprof_keep_span(PyObject *object) {
        rlprof_span *span = (rlprof_span *)object;
        if (span->opened || rlprof_spare_count == 256) { rlprof_free_span(object); return; }
        span->group = 0;
        rlprof_spares[rlprof_spare_count++] = span;
    }
    static int rlprof_speed_up_spans(PyObject *type) {
        PyTypeObject *t = (PyTypeObject *)type;
        if (t->tp_basicsize != sizeof(rlprof_span)) return 0;  /* the fields would not be where we look for them */
        rlprof_span_type = t;
        rlprof_free_span = t->tp_dealloc;
        t->tp_dealloc = rlprof_keep_span;
        t->tp_vectorcall_offset = offsetof(rlprof_span, step);
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(t);
        return 1;
    }
    static void rlprof_call_like_a_method(PyObject *type) {  /* `step` is the first field, and the object comes first */
        PyTypeObject *t = (PyTypeObject *)type;
        t->tp_vectorcall_offset = offsetof(rlprof_span, step);
        t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
        PyType_Modified(t);
    }
    static PyObject *rlprof_spare_span(PyObject *label) {  /* NULL, and no error, where there is none */
        rlprof_span *span;
        if (!rlprof_spare_count) return NULL;
        span = rlprof_spares[--rlprof_spare_count];
        if (span->label != label) {
            PyObject *before = span->label;
            Py_INCREF(label);
            span->label = label;
            Py_DECREF(before);
        }
    #ifdef Py_DEBUG
        return PyObject_Init((PyObject *)span, rlprof_span_type);
    #else
        Py_SET_REFCNT((PyObject *)span, 1);
        return (PyObject *)span;
    #endif
    }
    /* What a `with profile(...)` asked for last: a call site passes the same objects each time. */
    typedef struct { PyObject *name; PyObject *phase; PyObject *label; } rlprof_site;
    static rlprof_site rlprof_sites[256];
    static inline rlprof_site *rlprof_site_of(PyObject *name) { return &rlprof_sites[((size_t)name >> 4) & 255]; }
    static inline PyObject *rlprof_quick_span(PyObject *name, PyObject *phase) {
        rlprof_site *site = rlprof_site_of(name);
        return site->name == name && site->phase == phase ? rlprof_spare_span(site->label) : NULL;
    }
    /* `with` asks a span for its two methods: each is the span itself. */
    static descrgetfunc rlprof_find_step = NULL;
    static PyObject *rlprof_itself(PyObject *descriptor, PyObject *span, PyObject *type) {
        if (span == NULL || span == Py_None) return rlprof_find_step(descriptor, span, type);
        Py_INCREF(span);
        return span;
    }
    static void rlprof_find_quickly(PyObject *type) {
        rlprof_find_step = ((PyTypeObject *)type)->tp_descr_get;
        ((PyTypeObject *)type)->tp_descr_get = rlprof_itself;
        PyType_Modified((PyTypeObject *)type);
    }
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
            PyObject *phase = NULL, *span;
            if (names == NULL) phase = Py_None;
            else if (PyTuple_GET_SIZE(names) == 1 && PyTuple_GET_ITEM(names, 0) == rlprof_phase_word) phase = args[1];
            if (phase != NULL) {
                span = rlprof_quick_span(args[0], phase);
                return span != NULL ? span : rlprof_span_at_site(args[0], phase);
            }
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
    bint rlprof_speed_up_spans(object)
    void rlprof_call_like_a_method(object)
    void rlprof_find_quickly(object)
    PyObject *rlprof_spare_span(object) noexcept
    ctypedef struct Remembered "rlprof_site":
        PyObject *name
        PyObject *phase
        PyObject *label
    Remembered remembered "rlprof_sites"[256]
    Remembered *rlprof_site_of(object) noexcept
    void rlprof_set_spans(object, object, object (*)(object, object))
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyThreadState_Get() noexcept
    int64_t rlprof_clock() noexcept nogil
    void rlprof_open_rss() noexcept
    int64_t rlprof_rss() noexcept nogil
    PyObject *rlprof_context(PyThreadState *) noexcept
    uint64_t rlprof_thread_serial(PyThreadState *) noexcept
    uint64_t rlprof_thread_ident(PyThreadState *) noexcept
    int rlprof_octave(unsigned long long) noexcept
    object PyContext_CopyCurrent()
