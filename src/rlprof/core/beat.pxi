# The sampler's beat: stacks and memory at a steady rate, taken in the program's own thread where that is possible.
#
# A thread that samples must hold the interpreter lock, and taking it from a running program costs the program two
# wake-ups, far more than the sample itself. So the beat keeps time without the lock and asks the main thread to take
# its own sample at its next bytecode. A main thread that does not come by, because it is inside a long call, is looked
# at from here: the call has mostly given the lock up. Threads beside the main one are always looked at from here.

cdef extern from "pythread.h" nogil:
    ctypedef void *PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock)
    int PyThread_acquire_lock(PyThread_type_lock, int)
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long microseconds, int interruptible)
    void PyThread_release_lock(PyThread_type_lock)

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*)(void *) noexcept, void *) noexcept nogil
    PyFrameObject *PyThreadState_GetFrame(PyThreadState *) noexcept

cdef enum Asked:
    NOT_ASKED
    ASKED
    ANSWERED_FOR  # asked, but sampled from here meanwhile: when the main thread comes by, it has nothing left to do

cdef enum:
    MAX_MEMORY_ROWS = 256  # between two drains, half a second apart
    CLOSE_BEATS = 32  # after a long call, so many beats are waited for until half of each is over
    LOOSE_BEATS = 4  # later one in so many

cdef struct MemoryRow:
    int64_t at
    int64_t rss

cdef PyThread_type_lock beat_end = NULL  # held while the beat goes on
cdef int64_t beat_ns = 0
cdef int64_t memory_ns = 0
cdef int64_t memory_due = 0
cdef bint beat_stacks = False
cdef bint memory_in_python = False
cdef volatile int asked = NOT_ASKED
cdef bint beat_failed = False
cdef uint64_t beats_by_main = 0, beats_from_beside = 0
cdef object current_frames = None
cdef int64_t fresh_rss = 0
cdef MemoryRow memory_rows[MAX_MEMORY_ROWS]
cdef uint32_t memory_fill = 0


def begin_beat(double seconds, double memory_seconds, bint stacks, frames):
    """Set up what `keep_beat` does. `memory_seconds` 0: no memory. `frames` is `sys._current_frames`."""
    global beat_end, beat_ns, memory_ns, memory_due, beat_stacks, memory_in_python, asked, beat_failed, current_frames
    beat_end = PyThread_allocate_lock()
    if beat_end == NULL:
        raise MemoryError
    PyThread_acquire_lock(beat_end, 1)
    beat_ns = <int64_t>(seconds * 1e9)
    memory_ns = <int64_t>(memory_seconds * 1e9)
    memory_due = 0
    beat_stacks = stacks
    beat_failed = False
    current_frames = frames
    rlprof_find_breaker()
    rlprof_open_rss()  # anew after a fork: an open /proc/self goes on to mean the parent
    memory_in_python = rlprof_rss() < 0


def end_beat():
    """Make `keep_beat` return, now or when it is next called."""
    PyThread_release_lock(beat_end)


def read_memory_in_python(bint wanted):
    """Whether `keep_beat` leaves memory to its caller: for a device, or a system that has no quick way."""
    global memory_in_python
    memory_in_python = wanted or rlprof_rss() < 0


def keep_beat():
    """Sample until told to end: then False. True when it is time for the caller to read memory."""
    global fresh_rss, memory_due
    cdef PyThread_type_lock end = beat_end
    cdef int64_t due, t
    cdef bint ended, memory, waiting, owed
    cdef int close = CLOSE_BEATS  # beats that are still waited for
    cdef uint32_t number = 0
    with nogil:
        due = rlprof_clock() + beat_ns
        while True:
            t = rlprof_clock()
            ended = PyThread_acquire_lock_timed(end, (due - t) // 1000 if due > t else 0, 0) == 1
            if ended or beat_failed:
                break
            # A beat that comes late is not made up for: catching up would only add load to a machine that has too much.
            t = rlprof_clock()
            due = due + beat_ns if due + beat_ns > t else t
            if not recording:
                continue
            memory = memory_ns > 0 and t >= memory_due
            if memory:
                memory_due = t + memory_ns
                if memory_in_python:
                    break
                fresh_rss = rlprof_rss()
            if not beat_stacks and not memory:
                continue
            owed = asked == ASKED  # since the last beat, which was not waited for
            waiting = not recorders_beside_main and ask_main()
            if waiting:
                number += 1
                if close == 0 and number % LOOSE_BEATS:
                    continue  # whether it came by is seen at the next beat
                # A thread that runs Python comes by within microseconds, unless the system runs another one first.
                ended = PyThread_acquire_lock_timed(end, beat_ns // 2000, 0) == 1
                if ended:
                    break
                if asked == NOT_ASKED:
                    close = max(close - 1, 0)
                    continue
            close = CLOSE_BEATS
            with gil:
                if not waiting or asked == ASKED:  # it may have come by while this thread waited for the lock
                    if owed and asked == ASKED:
                        answer_for_main()  # it was in the same call at the last beat, too
                    answer_for_main()
    if beat_failed:
        raise RuntimeError("a stack could not be read")
    if ended:
        PyThread_free_lock(end)
    return not ended


cdef bint ask_main() noexcept nogil:
    """Ask the main thread for a sample; False where it still owes the last one, so there is no use in waiting."""
    global asked
    if asked != NOT_ASKED:
        return False
    asked = ASKED
    if Py_AddPendingCall(come_by, NULL) != 0:
        asked = NOT_ASKED
        return False
    rlprof_wake_main()
    return True


cdef int come_by(void *nothing) noexcept with gil:
    """What the main thread does when it was asked."""
    global asked
    if asked == ASKED and recording:
        take_beat(True)
    asked = NOT_ASKED
    return 0


cdef void answer_for_main() noexcept:
    global asked
    if asked == ASKED:
        asked = ANSWERED_FOR
    if recording:
        take_beat(False)


cdef void take_beat(bint by_main) noexcept:
    global fresh_rss, memory_fill, beat_failed, beats_by_main, beats_from_beside
    cdef int64_t started = rlprof_clock()
    cdef ThreadRecord *record
    if by_main:
        beats_by_main += 1
    else:
        beats_from_beside += 1
    if fresh_rss > 0:
        spread_rss(fresh_rss)
        if memory_fill < MAX_MEMORY_ROWS:
            memory_rows[memory_fill].at = started
            memory_rows[memory_fill].rss = fresh_rss
            memory_fill += 1
        fresh_rss = 0
    if beat_stacks and not beat_failed:
        try:
            if by_main:
                sample_main()
            else:
                sample_stacks(current_frames)
        except BaseException:
            beat_failed = True  # told by keep_beat; nothing of it may reach the program
    record = main_record()
    if record != NULL:
        innermost(record).charged += rlprof_clock() - started


cdef ThreadRecord *main_record() noexcept:
    cdef ThreadRecord *record = records
    while record != NULL and record.ident != main_ident:
        record = record.next
    return record


cdef int sample_main() except -1:
    """Count where this thread, the main one, is."""
    cdef ThreadRecord *record = main_record()
    cdef PyThreadState *state = PyThreadState_Get()
    cdef PyFrameObject *frame
    cdef int32_t place
    cdef int was_on
    if record == NULL:
        return 0
    was_on = PyGC_Disable()
    try:
        place = place_here(state)
        if place < 0:
            frame = PyThreadState_GetFrame(state)
            if frame != NULL:
                place = place_of(frame)
                Py_XDECREF(<PyObject *>frame)
        count_sample(record, place)
    finally:
        if was_on:
            PyGC_Enable()
    return 0


def drain_memory():
    """(time, resident bytes) of every reading since the last call."""
    global memory_fill
    cdef uint32_t i
    rows = [(memory_rows[i].at, memory_rows[i].rss) for i in range(memory_fill)]
    memory_fill = 0
    return rows


def beats_taken():
    """How many beats the main thread took itself, and how many were taken for it with the interpreter lock."""
    return beats_by_main, beats_from_beside


cdef void wipe_beat() noexcept:
    """After a fork, what was asked in the parent is not answered here."""
    global asked, fresh_rss, memory_fill, beats_by_main, beats_from_beside
    beats_by_main = beats_from_beside = 0
    asked = NOT_ASKED
    fresh_rss = 0
    memory_fill = 0
