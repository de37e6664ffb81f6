# Collecting and learning, inferred: which of the two goes on in a thread, and the spans that stand for them.
#
# What events mean is worked out in Python (probes/stages.py). A program that learns at every step has thousands of them
# a second, all alike: once they bring nothing new, and for as long as no new path appears, they are followed here.

cdef Label learning_label = None
cdef Label collecting_label = None
cdef uint32_t stage_group = 0


def set_stage_group(uint32_t group):
    """The group of both: where one of it is open, no other begins."""
    global stage_group
    if group >= MAX_GROUPS:
        raise ValueError(group)
    stage_group = group


cdef int open_stage(ThreadRecord *record, PyObject **held, Label label) except -1:
    cdef PyObject *span
    if held[0] != NULL or not recording or record.busy[stage_group] or not in_loop(record):
        return 0
    opened = open_guarded(label, stage_group)
    span = <PyObject *>opened
    Py_XINCREF(span)
    held[0] = span
    return 0


cdef int close_stage(PyObject **held) except -1:
    cdef PyObject *span = held[0]
    if span != NULL:
        held[0] = NULL
        close_span(<Span>span)
        Py_XDECREF(span)
    return 0


cdef int turn_to_learning(ThreadRecord *record) except -1:
    global learning_label
    close_stage(&record.collecting)
    if learning_label is None:
        learning_label = find_label("learning", "learn.other", KIND_PROBE)
    open_stage(record, &record.learning, learning_label)
    record.staged = record.learning != NULL
    return 0


cdef int turn_to_collecting(ThreadRecord *record) except -1:
    """Only after an update: what comes before the first one may be anything."""
    global collecting_label
    close_stage(&record.learning)
    record.staged = False
    if record.trains:
        if collecting_label is None:
            collecting_label = find_label("collecting", None, KIND_PROBE)
        open_stage(record, &record.collecting, collecting_label)
    return 0


cdef inline bint goes_on(ThreadRecord *record) noexcept:
    """Whether the next event can be followed here."""
    return record.follows and record.stage_paths == node_count


cdef inline void note_update_here(ThreadRecord *record) noexcept:
    record.trains = True
    record.steps_at_update = record.env_steps


def begin_learning():
    """The program learns: it does not collect any more, and the next forward without gradients is told."""
    turn_to_learning(here())


def begin_collecting():
    """The program collects, and does not learn any more."""
    turn_to_collecting(here())


def is_staged():
    """Whether one of the two goes on in this thread."""
    cdef ThreadRecord *record = here()
    return record.learning != NULL or record.collecting != NULL


def end_learning():
    cdef ThreadRecord *record = here()
    close_stage(&record.learning)
    record.staged = False


def end_collecting():
    close_stage(&here().collecting)


def note_update():
    """An optimizer has stepped."""
    note_update_here(here())


def steps_since_update():
    """Env steps of this thread since an optimizer stepped."""
    cdef ThreadRecord *record = here()
    return record.env_steps - record.steps_at_update


def follow_stages(uint32_t paths):
    """Follow events of this thread here that bring nothing new, for as long as there are so many paths: those that somebody
    has looked at. 0: not any more.
    """
    cdef ThreadRecord *record = here()
    record.follows = paths > 0
    record.stage_paths = paths


cdef void forget_stages(ThreadRecord *record) noexcept:
    """Let go of spans that are nobody's any more."""
    cdef PyObject *learning = record.learning
    cdef PyObject *collecting = record.collecting
    record.learning = record.collecting = NULL
    record.follows = record.trains = False
    record.steps_at_update = 0
    Py_XDECREF(learning)
    Py_XDECREF(collecting)
