# A rollout that is stored by hand: `observations[step] = observation`, counted by the place that does it.
#
# With a `__setitem__` of ours on the class, each store of the program would look that up, call it, and call the original by
# its name in turn: a third of what the store itself takes. So the slot is taken over which the interpreter goes to, and
# the class keeps its attributes.

cdef extern from *:
    """
    typedef int (*rlprof_store)(PyObject *, PyObject *, PyObject *);
    static rlprof_store rlprof_plain_store = NULL;
    /* False where the class has a store of its own: then its slot is not that of the class it derives from. */
    static int rlprof_take_over_store(PyObject *cls, rlprof_store ours) {
        PyTypeObject *type = (PyTypeObject *)cls;
        PyMappingMethods *above = type->tp_base ? type->tp_base->tp_as_mapping : NULL;
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || !type->tp_as_mapping || !above || !above->mp_ass_subscript
            || type->tp_as_mapping->mp_ass_subscript != above->mp_ass_subscript) return 0;
        rlprof_plain_store = above->mp_ass_subscript;
        type->tp_as_mapping->mp_ass_subscript = ours;
        return 1;
    }
    static void rlprof_give_back_store(PyObject *cls, rlprof_store ours) {
        PyMappingMethods *methods = ((PyTypeObject *)cls)->tp_as_mapping;
        if (methods && methods->mp_ass_subscript == ours) methods->mp_ass_subscript = rlprof_plain_store;
    }
    """
    ctypedef int (*store_slot "rlprof_store")(PyObject *, PyObject *, PyObject *) except -1
    int plain_store "rlprof_plain_store"(PyObject *, PyObject *, PyObject *) noexcept
    bint rlprof_take_over_store(object, store_slot) noexcept
    void rlprof_give_back_store(object, store_slot) noexcept

cdef enum:
    BESIDE_STORING = 1 << 16  # the group of spans around learning, which an inferred one may leave open

cdef Counted stores = None


def watch_stores(cls, Counted counted):
    """Count what is stored into objects of a class by `counted`'s places. False where that class stores in a way of its own.

    Only places count that take turns with env steps, outside of everything that is busy with something else.
    """
    global stores
    if not rlprof_take_over_store(cls, store_seen):
        return False
    stores = counted
    return True


def leave_stores(cls):
    """The class is as it was. Those that were derived from it meanwhile go on to come by here, and are let through."""
    global stores
    stores = None
    rlprof_give_back_store(cls, store_seen)


cdef inline bint is_storing(KnownPlace *place, ThreadRecord *record) noexcept:
    if place.idles or record.groups & ~<uint32_t>BESIDE_STORING:
        return False
    if place.steps == record.env_steps:
        place.idles = place.alternated > 0 or place.steps > 0
        return False
    place.steps = record.env_steps
    place.alternated += 1
    return place.alternated > 2


cdef int store_seen(PyObject *target, PyObject *key, PyObject *value) except -1:
    cdef PyObject *code
    cdef size_t at
    cdef ThreadRecord *record
    cdef KnownPlace *place
    cdef KnownPlace fresh
    cdef Node *child
    cdef bint folded = False
    cdef int64_t looked = 0
    if not recording or value == NULL or stores is None:
        return plain_store(target, key, value)
    if is_looked_at():
        looked = now()
    record = here()
    rlprof_find_caller(last_state, &code, &at)
    if record.muted or code == NULL:
        return plain_store(target, key, value)
    place = known_place(stores, code, at, &fresh, &looked)
    record = here()
    if place.label == NULL or not is_storing(place, record):
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return plain_store(target, key, value)
    child = node_below(record, innermost(record), (<Label>place.label).id, &folded)
    child.thinnable = True
    if is_thinned(child):
        count_untimed(innermost(record), child)
        if looked:
            see_call(KIND_UNTIMED, looked)
        return plain_store(target, key, value)
    return store_in_span(record, child, folded, looked, target, key, value)


cdef int store_in_span(ThreadRecord *record, Node *child, bint folded, int64_t looked, PyObject *target, PyObject *key,
                       PyObject *value) except -1:
    cdef Counted counted = stores  # held: the store may run code that has it let go
    cdef PyObject *owner = <PyObject *>counted
    cdef PyObject *kind
    cdef PyObject *error
    cdef PyObject *traceback
    cdef int64_t begin = now(), inside = 0
    open_at(record, child, folded, owner, 0, begin)
    if looked:
        inside = now() - begin
    if plain_store(target, key, value) == 0:
        close_owner(owner)
        if looked:
            see_span(child, inside, begin - looked + now() - closed_at)
        return 0
    PyErr_Fetch(&kind, &error, &traceback)
    try:
        close_owner(owner)
    finally:
        PyErr_Restore(kind, error, traceback)
    return -1
