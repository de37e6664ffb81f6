# Stack samples: where each recording thread is in its code, counted by path and place.

cdef extern from "Python.h":
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept

cdef extern from "frameobject.h":  # which Python.h leaves out before 3.11
    ctypedef struct PyCodeObject:
        pass
    ctypedef struct PyFrameObject:
        pass
    PyCodeObject *PyFrame_GetCode(PyFrameObject *) noexcept
    PyFrameObject *PyFrame_GetBack(PyFrameObject *) noexcept
    int PyFrame_GetLineNumber(PyFrameObject *) noexcept
    int PyCode_Addr2Line(PyCodeObject *, int) noexcept

cdef extern from *:
    """
    #include <frameobject.h>
    /* The instruction that a frame has come to, in bytes. */
    static inline int rlprof_come_to(PyFrameObject *frame) {
    #if PY_VERSION_HEX < 0x030B0000
        return frame->f_lasti * 2;
    #else
        return PyFrame_GetLasti(frame);
    #endif
    }
    """
    int rlprof_come_to(PyFrameObject *) noexcept

cdef enum:
    MAX_PLACES = 20000  # distinct places with their callers; further ones are booked on the caller they share
    MAX_WALK = 100
    PLACE_TABLE = 65536  # a power of two, three times the places

cdef struct Place:
    PyObject *code
    int32_t caller
    int32_t line
    int32_t id

cdef Place *places = NULL
cdef int32_t place_count = 0
cdef list new_places = []
cdef list place_codes = []  # kept alive, so that an address stays theirs
cdef dict sample_counts = {}  # path << 32 | place -> samples
cdef uint64_t samples_taken = 0

# The last stack that was walked, outermost first: most of the next one is the same, and finding a line takes long.
cdef PyObject *walked_codes[MAX_WALK]
cdef int walked_ats[MAX_WALK]
cdef int32_t walked_places[MAX_WALK]
cdef bint walked_imports[MAX_WALK]
cdef int walked = 0


cdef int32_t find_place(int32_t caller, PyObject *code, int32_t line):
    """The number of a place below its caller; the caller's own once there are too many."""
    global place_count, places
    cdef uint32_t slot = (<uint32_t>(<size_t>code >> 4) * <uint32_t>2654435761u
                          ^ <uint32_t>caller * <uint32_t>2246822519u ^ <uint32_t>line * <uint32_t>3266489917u)
    if places == NULL:
        places = <Place *>calloc(PLACE_TABLE, sizeof(Place))
        if places == NULL:
            return caller
    slot &= PLACE_TABLE - 1
    while places[slot].code != NULL:
        if places[slot].code == code and places[slot].caller == caller and places[slot].line == line:
            return places[slot].id
        slot = (slot + 1) & (PLACE_TABLE - 1)
    if place_count >= MAX_PLACES:
        return caller
    place_codes.append(<object>code)
    new_places.append((place_count, None if caller < 0 else caller, <object>code, line))
    places[slot].code = code
    places[slot].caller = caller
    places[slot].line = line
    places[slot].id = place_count
    place_count += 1
    return place_count - 1


cdef inline bint is_import_system(PyObject *code):
    """Whether these are its own frames, half a dozen to each import: of one import the first is kept. Else the stacks of a
    program that loads thousands of modules would use up all the places there are before it trains.
    """
    return (<str>(<object>code).co_filename).startswith("<frozen importlib")


cdef int32_t line_at(PyObject *code, int at):
    """The line of an instruction. Some, as the jump back at the end of a loop, stand in none: then that before them."""
    cdef int32_t line = PyCode_Addr2Line(<PyCodeObject *>code, at)
    while line <= 0 and at >= 2:
        at -= 2
        line = PyCode_Addr2Line(<PyCodeObject *>code, at)
    return line if line > 0 else (<object>code).co_firstlineno


cdef int32_t place_here(PyThreadState *state) except -2:
    """Where this thread is; -1 where only frame objects would tell, or it is nowhere."""
    global walked
    cdef PyObject *codes[MAX_WALK]
    cdef int ats[MAX_WALK]
    cdef int depth = rlprof_walk(state, codes, ats, MAX_WALK), i, level
    cdef int32_t place = -1
    cdef bint same = True, imports = False, imported
    for i in range(depth - 1, -1, -1):
        level = depth - 1 - i
        same = same and level < walked and walked_codes[level] == codes[i] and walked_ats[level] == ats[i]
        if same:
            place = walked_places[level]
            imports = walked_imports[level]
            continue
        walked = level
        imported, imports = imports, is_import_system(codes[i])
        if not (imported and imports):
            place = find_place(place, codes[i], line_at(codes[i], ats[i]))
        walked_codes[level] = codes[i]
        walked_imports[level] = imports
        walked_ats[level] = ats[i]
        walked_places[level] = place
        walked = level + 1
    return place


cdef int32_t place_of(PyFrameObject *leaf):
    cdef PyFrameObject *chain[MAX_WALK]
    cdef PyFrameObject *frame = leaf
    cdef PyObject *code
    cdef int depth = 0, i
    cdef int32_t place = -1, line
    cdef bint imports = False, imported
    Py_XINCREF(<PyObject *>frame)
    while frame != NULL and depth < MAX_WALK:
        chain[depth] = frame
        depth += 1
        frame = PyFrame_GetBack(frame)
    Py_XDECREF(<PyObject *>frame)
    for i in range(depth - 1, -1, -1):
        code = <PyObject *>PyFrame_GetCode(chain[i])
        imported, imports = imports, is_import_system(code)
        if not (imported and imports):
            line = PyFrame_GetLineNumber(chain[i])
            place = find_place(place, code, line if line > 0 else line_at(code, rlprof_come_to(chain[i])))
        Py_XDECREF(code)
        Py_XDECREF(<PyObject *>chain[i])
    return place


cdef int count_sample(ThreadRecord *record, int32_t place) except -1:
    global samples_taken
    if place >= 0:
        key = <uint64_t>innermost(record).id << 32 | <uint32_t>place
        sample_counts[key] = sample_counts.get(key, 0) + 1
        samples_taken += 1
    return 0


def sample_stacks(current_frames):
    """Count where every recording thread is. `current_frames` is `sys._current_frames`.

    The collector is held off meanwhile: frames are made visible by objects, and a collection that they set off here
    would be time of the program's booked as ours. Nothing can run in between, so nobody sees it switched off.
    """
    cdef ThreadRecord *record
    cdef int was_on
    if not recording:
        return
    was_on = PyGC_Disable()
    try:
        frames = current_frames()
        record = records
        while record != NULL:
            frame = frames.get(record.ident)
            if frame is not None:
                count_sample(record, place_of(<PyFrameObject *><PyObject *>frame))
            record = record.next
        frame = None
        frames = None
    finally:
        if was_on:
            PyGC_Enable()


def drain_samples():
    """New places as (id, caller or None, code, line), and {path << 32 | place: samples} since the last call."""
    global sample_counts, new_places
    fresh, new_places = new_places, []
    counts, sample_counts = sample_counts, {}
    return fresh, counts


cdef void wipe_samples():
    global place_count, samples_taken, walked
    place_count = 0
    walked = 0
    samples_taken = 0
    new_places.clear()
    place_codes.clear()
    sample_counts.clear()
    if places != NULL:
        memset(places, 0, PLACE_TABLE * sizeof(Place))
