# Calls counted by the place that makes them: `.item() train.py:123`.

cdef enum:
    KIND_SITE = 8
    FIRST_PLACES = 64
    FIRST_ASKED = 16  # calls of a place whose tensors are asked where they are; then one in so many
    MOST_PLACES = 8192

cdef extern from "Python.h":
    PyFrameObject *PyEval_GetFrame() noexcept

cdef struct KnownPlace:
    PyObject *code  # whoever finds the place keeps its code alive
    size_t at
    PyObject *label  # NULL: calls from here are nobody's. Labels stay for good.
    PyObject *seen  # the label it had last
    uint32_t asked  # how often where its tensors are was asked or taken for known
    uint64_t steps  # of one that may be storing: env steps at its last call
    uint32_t alternated  # calls with an env step before each
    bint idles  # called twice without an env step in between: it stores no step


@cython.final
cdef class Counted:
    """A method that an object finds as ours and a class as the original: programs look up `torch.Tensor.item` and compare
    it with the function they are asked to override.

    `find(frame)` names a place: (name, or None where it is passed over; whether to remember it). Calls have the phase
    `phase_here`, those on tensors that are not the CPU's `phase_away`; those of a tensor that `is_watched` by somebody, who
    would see us look at it, are told by `is_away(tensor)`. Where a call may turn out to be nothing, `moves(tensor, ...)`
    says what it is instead: False, or its phase.

    The call itself is made from here, in the frame of the user's own: a warning that it gives names the user's line.
    """

    cdef call_step step
    cdef object original
    cdef object find
    cdef object is_watched
    cdef object is_away
    cdef object phase_away
    cdef object moves
    cdef object phase_here
    cdef KnownPlace *places
    cdef uint32_t room
    cdef uint32_t filled
    cdef dict __dict__

    def __cinit__(self):
        self.places = <KnownPlace *>calloc(FIRST_PLACES, sizeof(KnownPlace))
        if self.places == NULL:
            raise MemoryError
        self.room = FIRST_PLACES

    def __init__(self, original, find, *, is_watched=None, is_away=None, phase_away=None, moves=None, phase_here=None):
        from functools import update_wrapper
        update_wrapper(self, original)
        self.original = original
        self.find = find
        self.is_watched = is_watched
        self.is_away = is_away
        self.phase_away = phase_away
        self.moves = moves
        self.phase_here = phase_here
        self.step = call_counted

    def __dealloc__(self):
        free(self.places)

    def __call__(self, *args, **kwargs):
        """For whoever does not call `step` itself."""
        return call_slowly(<PyObject *>self, args, kwargs)

    def __get__(self, instance, owner):
        return self.original if instance is None else PyMethod_New(self, instance)


cdef inline KnownPlace *slot_for(Counted self, PyObject *code, size_t at) noexcept:
    """Where this place is, or goes."""
    cdef uint64_t hashed = ((<size_t>code >> 4) ^ at * <uint64_t>0x9E3779B97F4A7C15u)
    cdef uint32_t i = <uint32_t>(hashed ^ hashed >> 29) & (self.room - 1)
    while self.places[i].code != NULL and not (self.places[i].code == code and self.places[i].at == at):
        i = (i + 1) & (self.room - 1)
    return &self.places[i]


cdef int make_room(Counted self) except -1:
    cdef KnownPlace *before = self.places
    cdef uint32_t room = self.room
    cdef uint32_t i
    cdef KnownPlace *more
    if 2 * self.filled < room:
        return 0
    more = <KnownPlace *>calloc(2 * room, sizeof(KnownPlace))
    if more == NULL:
        raise MemoryError
    self.places = more
    self.room = 2 * room
    for i in range(room):
        if before[i].code != NULL:
            slot_for(self, before[i].code, before[i].at)[0] = before[i]
    free(before)
    return 0


cdef int name_place(Counted self, PyObject *code, size_t at, KnownPlace *found) except -1:
    """Ask what a place is called that was not seen before."""
    cdef Label label
    name, known = self.find(<object>PyEval_GetFrame())
    found.code = code
    found.at = at
    found.label = found.seen = NULL
    found.steps = 0
    found.asked = 0
    found.alternated = 0
    found.idles = False
    if name is not None:
        label = find_label(name, self.phase_here, KIND_SITE)
        found.label = found.seen = <PyObject *>label
    if known and self.filled < MOST_PLACES:
        make_room(self)
        slot_for(self, code, at)[0] = found[0]
        self.filled += 1
    return 0


cdef PyObject *label_at(Counted self, KnownPlace *place, PyObject **args, size_t count, PyObject *names) except? NULL:
    """The label of this call; NULL where it is nothing."""
    cdef Label label
    if self.moves is not None:
        phase = take_over(PyObject_Vectorcall(<PyObject *>self.moves, args, count, names))
        if phase is False:
            return NULL
        if phase is None:
            return place.label
        label = find_label((<Label>place.label).name, phase, KIND_SITE)
        return <PyObject *>label
    if self.is_watched(<object>args[0]) is True:
        if not self.is_away(<object>args[0]):
            return place.label
    elif (<object>args[0]).is_cpu is True:
        return place.label
    label = find_label((<Label>place.label).name, self.phase_away, KIND_SITE)
    return <PyObject *>label


cdef inline KnownPlace *known_place(Counted self, PyObject *code, size_t at, KnownPlace *fresh,
                                   int64_t *looked) except NULL:
    """What is known of a place; of one that there is no room for, in `fresh`."""
    cdef KnownPlace *place = slot_for(self, code, at)
    if place.code != NULL:
        return place
    looked[0] = 0  # finding a name is no usual cost
    name_place(self, code, at, fresh)
    place = slot_for(self, code, at)
    return fresh if place.code == NULL else place


cdef PyObject *call_counted(PyObject *counted, PyObject **args, size_t count, PyObject *names) except NULL:
    cdef Counted self = <Counted>counted
    cdef PyObject *original = <PyObject *>self.original
    cdef PyObject *code
    cdef PyObject *label
    cdef size_t at
    cdef ThreadRecord *record
    cdef KnownPlace *place
    cdef KnownPlace fresh
    cdef Node *node
    cdef Node *child
    cdef bint folded = False
    cdef int64_t looked = 0
    if not recording or not count & COUNT_MASK:
        return PyObject_Vectorcall(original, args, count, names)
    if is_looked_at():
        looked = now()
    record = here()
    rlprof_find_caller(last_state, &code, &at)
    if record.muted or code == NULL:
        return PyObject_Vectorcall(original, args, count, names)
    place = known_place(self, code, at, &fresh, &looked)
    record = here()
    node = innermost(record)
    if place.label == NULL:
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    if self.moves is None:  # most tensors of a place are where the last one was, and asking costs more than a span
        child = node_below(record, node, (<Label>place.seen).id, &folded)
        if is_thinned(child):
            count_untimed(node, child)
            if looked:
                see_call(KIND_UNTIMED, looked)
            return PyObject_Vectorcall(original, args, count, names)
        place.asked += 1
        if place.asked > FIRST_ASKED and place.asked % FIRST_ASKED:
            child.thinnable = True
            return call_in_span(record, child, folded, counted, 0, looked, original, args, count, names)
    fresh = place[0]  # what is asked now may find further places, and move the table
    label = label_at(self, &fresh, args, count, names)
    record = here()
    node = innermost(record)
    if label == NULL:
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    child = node_below(record, node, (<Label>label).id, &folded)
    child.thinnable = True
    if self.moves is not None and is_thinned(child):
        count_untimed(node, child)
        if looked:
            see_call(KIND_UNTIMED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    if fresh.seen != label:
        place = slot_for(self, code, at)
        if place.code != NULL:
            place.seen = label
    return call_in_span(record, child, folded, counted, 0, looked, original, args, count, names)


rlprof_call_like_a_method(Counted)
