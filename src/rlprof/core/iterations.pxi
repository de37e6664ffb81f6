# Iterations, the schedule that logs events in some of them, and the flight recorder of the slowest.

@cython.final
@cython.no_gc
cdef class _Turn:
    """What `iteration()` returns: nothing more to do, or a `with` block that ends the iteration early."""

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if records != NULL:  # also when recording was switched off meanwhile
            end_turn(here(), now())


cdef _Turn TURN = _Turn.__new__(_Turn)


def iteration():
    """Mark a turn of the training loop: ends the running iteration, if any, and begins the next one."""
    cdef ThreadRecord *record
    cdef int64_t t
    global turns_marked
    if not recording:
        return TURN
    record = here()
    t = now()
    end_turn(record, t)
    book(record, t)
    push(record, find_child(innermost(record), TURN_LABEL.id), NULL, t)
    if leads(record):
        turns_marked = True
        begin_turn(t)
    return TURN


def infer_turn():
    """A probe saw the loop turn. It opens no span, because it may see it from anywhere; the program's own marks win."""
    infer_turn_of(here())


cdef void infer_turn_of(ThreadRecord *record) noexcept:
    cdef int64_t t
    if recording and not turns_marked and leads(record):
        t = now()
        note_turn(t)
        begin_turn(t)


cdef inline bint leads(ThreadRecord *record) noexcept:
    """Whether this is the thread whose iterations count: the first to have any."""
    global leader, leader_lane
    if leader == NULL:
        leader = record
        leader_lane = record.lane.root.lane
    return record == leader


cdef void begin_turn(int64_t t) noexcept:
    global turn_index, turn_start, turn_steps, turn_open
    turn_index += 1
    turn_start = t
    turn_steps = STEPS.whole
    turn_open = True
    empty_flight()
    follow_schedule()


cdef void note_turn(int64_t t) noexcept:
    """The leader's iteration, if one runs, ends now."""
    global turn_fill, turns_dropped, turns_closed, turn_open, logging_events
    if not turn_open:
        return
    turn_open = False
    logging_events = False  # until the next one begins, no iteration is active
    turns_closed += 1
    if turn_fill < MAX_TURNS:
        turns[turn_fill].start = turn_start
        turns[turn_fill].duration = t - turn_start
        turns[turn_fill].env_steps = STEPS.whole - turn_steps
        turn_fill += 1
    else:
        turns_dropped += 1
    if slow_room:
        keep_if_slow(t - turn_start)


cdef void end_turn(ThreadRecord *record, int64_t t) noexcept:
    """Close the innermost open iteration of this thread; spans still open inside it stay open."""
    if close_in_stack(record, record.current, NULL, t, True) and record == leader:
        note_turn(t)


cdef void follow_schedule() noexcept:
    global logging_events
    cdef int64_t cycle = wait_turns + warmup_turns + active_turns
    if active_turns == 0:
        return
    if repeat_turns > 0 and turn_index >= cycle * repeat_turns:
        logging_events = False
        return
    logging_events = turn_index % cycle >= wait_turns + warmup_turns


cdef void log_event(uint32_t path, int64_t start, int64_t duration) noexcept:
    global chunk, chunk_fill, events_emitted, events_dropped
    events_emitted += 1
    if chunk == NULL:
        chunk = <Event *>malloc(CHUNK * sizeof(Event))
    if chunk == NULL or chunk_fill >= CHUNK:
        events_dropped += 1
        return
    chunk[chunk_fill].path = path
    chunk[chunk_fill].start = start
    chunk[chunk_fill].duration = duration
    chunk_fill += 1
    if chunk_fill == CHUNK and len(full_chunks) < MAX_CHUNKS:
        hand_over_chunk()


cdef void hand_over_chunk() noexcept:
    global chunk_fill
    try:
        full_chunks.append((<char *>chunk)[:chunk_fill * sizeof(Event)])
    except MemoryError:
        return
    chunk_fill = 0


cdef void keep_in_flight(uint32_t path, int64_t start, int64_t duration) noexcept:
    """Keep the spans of this iteration; when they are too many, the shortest go first."""
    global flight, flight_fill, flight_floor, flight_elided
    cdef uint32_t i, kept
    if duration < flight_floor or flight == NULL:
        flight_elided += 1
        return
    while flight_fill == FLIGHT:
        flight_floor = flight_floor * 2 if flight_floor else 500
        kept = 0
        for i in range(flight_fill):
            if flight[i].duration >= flight_floor:
                flight[kept] = flight[i]
                kept += 1
        flight_elided += flight_fill - kept
        flight_fill = kept
        if duration < flight_floor:
            flight_elided += 1
            return
    flight[flight_fill].path = path
    flight[flight_fill].start = start
    flight[flight_fill].duration = duration
    flight_fill += 1


cdef void keep_if_slow(int64_t duration) noexcept:
    global slow_count
    cdef int at = 0, i
    cdef Event *log
    if slow_count < slow_room:
        at = slow_count
    else:
        for i in range(1, slow_count):
            if slow[i].duration < slow[at].duration:
                at = i
        if duration <= slow[at].duration:
            at = -1
    if at >= 0:
        log = <Event *>malloc((flight_fill + 1) * sizeof(Event))
        if log != NULL:
            memcpy(log, flight, flight_fill * sizeof(Event))
            if at == slow_count:
                slow_count += 1
            else:
                free(slow[at].log)
            slow[at].index = turn_index
            slow[at].start = turn_start
            slow[at].duration = duration
            slow[at].elided = flight_elided
            slow[at].elided_below = flight_floor
            slow[at].events = flight_fill
            slow[at].log = log
            slow[at].fresh = True


cdef void empty_flight() noexcept:
    global flight_fill, flight_floor, flight_elided
    flight_fill = 0
    flight_floor = 0
    flight_elided = 0
