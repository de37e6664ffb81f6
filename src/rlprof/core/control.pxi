# Switching the recorder on and off, setting it up, emptying it.

def configure(*, phases, schedule=None, int keep_slowest=5, memory_span=None, bad_phase=None):
    """Set what holds for the whole session. `schedule` is (wait, warmup, active, repeat) in iterations."""
    global known_phases, memory_span_factory, on_bad_phase, slow_room, flight
    global wait_turns, warmup_turns, active_turns, repeat_turns
    known_phases = frozenset(phases)
    forget_sites()  # what was no phase may be one now
    memory_span_factory = memory_span
    on_bad_phase = bad_phase
    slow_room = min(keep_slowest, MAX_SLOW)
    if slow_room and flight == NULL:
        flight = <Event *>malloc(FLIGHT * sizeof(Event))
    wait_turns, warmup_turns, active_turns, repeat_turns = schedule if schedule else (0, 0, 0, 0)


def switch_on(main_thread_ident):
    """Begin to record, or go on after `switch_off`. The calling thread's time counts from now."""
    global recording, resumed, main_ident
    cdef ThreadRecord *record
    if recording:
        return
    main_ident = main_thread_ident or 0
    here()
    resumed = now()
    record = records
    while record != NULL:
        record.last = resumed
        record = record.next
    recording = True


def switch_off():
    """Stop recording. Spans that are open are still counted when they close."""
    global recording, recorded_ns
    cdef int64_t t = now()
    if recording:
        book_all(t)
        recorded_ns += t - resumed
        recording = False


cdef void book_all(int64_t t) noexcept:
    cdef ThreadRecord *record = records
    while record != NULL:
        book(record, t)
        record = record.next


def is_on():
    return recording


def clock_ns():
    """The monotonic clock that all times in a recording are on."""
    return now()


def set_fake_clock(value):
    """Stand the clock still at `value` ns, for tests; None lets it run again."""
    global fake_clock, fake_now
    fake_clock = value is not None
    fake_now = value if fake_clock else 0


def wipe():
    """Forget everything measured, and every open span: at a reset, and in a child process after fork."""
    global turn_open, turns_marked, node_count, lane_count, records, last_record, last_state, last_serial, leader, leader_lane, turn_index
    global chunk_fill, events_emitted, events_dropped, turn_fill, turns_dropped, turns_closed, slow_count
    global spans_closed, spans_abandoned, exits_unmatched, spans_folded
    global round_of, since_its_last, last_round, rounds_seen, steps_in_rounds
    global forward_in, forward_passed, amounts_refused, recorded_ns, recording, logging_events, last_rss, recorders_beside_main
    cdef ThreadRecord *record = records
    cdef ThreadRecord *after
    cdef Stack *stack
    cdef uint32_t i
    recording = recorders_beside_main = False
    records = last_record = leader = NULL
    last_state = forward_in = NULL
    last_serial = forward_passed = 0
    while record != NULL:
        after = record.next
        while record.base != NULL:
            stack = record.base
            record.base = stack.next
            free_stack(stack)
        free_record(record)
        record = after
    for i in range(node_count):
        free(nodes[i])
        nodes[i] = NULL
    memset(children, 0, sizeof(children))
    memset(lanes, 0, sizeof(lanes))
    node_count = lane_count = 0
    for i in range(<uint32_t>slow_count):
        free(slow[i].log)
    slow_count = 0
    leader_lane = turn_index = -1
    turn_open = turns_marked = False
    chunk_fill = turn_fill = 0
    full_chunks.clear()
    empty_flight()
    events_emitted = events_dropped = turns_dropped = turns_closed = 0
    spans_closed = spans_abandoned = exits_unmatched = spans_folded = amounts_refused = 0
    recorded_ns = last_rss = 0
    logging_events = False
    wipe_samples()
    wipe_beat()
    take_looks()
    counters.clear()
    forget_returns()
    round_of = since_its_last = last_round = rounds_seen = steps_in_rounds = 0
    STEPS.amount = STEPS.whole = STEPS.guessed = 0
    STEPS.claimed = False
    STEPS.calls = 0
    counters["env_steps"] = STEPS
