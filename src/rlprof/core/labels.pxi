# Labels: a name with its phase and kind, interned, so that the rest works with numbers.

@cython.final
@cython.no_gc
cdef class Label:
    cdef readonly str name
    cdef readonly object phase
    cdef readonly uint32_t kind
    cdef readonly uint32_t id
    cdef Label other  # the same name with another phase or kind


cdef Label new_label(str name, object phase, uint32_t kind):
    cdef Label label = Label.__new__(Label)
    label.name = name
    label.phase = phase
    label.kind = kind
    label.id = <uint32_t>len(labels)
    labels.append(label)
    return label


cdef Label ROOT_LABEL = new_label("", None, KIND_ROOT)
cdef Label MORE_LABEL = new_label("(more paths)", None, 0)
cdef Label TURN_LABEL = new_label("iteration", None, KIND_ITERATION)


cdef inline bint same_text(object one, object other):
    return type(one) is str and type(other) is str and <str>one == <str>other


cdef Label find_label(object name, object phase, uint32_t kind):
    cdef PyObject *found = NULL
    cdef Label label
    if type(name) is str:
        found = PyDict_GetItem(labels_by_name, name)
        if found != NULL:
            label = <Label>found
            if label.kind == kind and (label.phase is phase or same_text(label.phase, phase)):
                return label
    return find_label_slowly(name, phase, kind)


cdef Label find_label_slowly(object name, object phase, uint32_t kind):
    cdef Label label, first
    if type(name) is not str:
        name = str(name)
    if phase is not None and (type(phase) is not str or phase not in known_phases):
        if on_bad_phase is not None:
            on_bad_phase(name, phase)
        phase = None
    first = labels_by_name.get(name)
    label = first
    while label is not None:
        if label.phase == phase and label.kind == kind:
            return label
        label = label.other
    if len(labels) >= MAX_LABELS:
        return MORE_LABEL
    label = new_label(name, phase, kind)
    if first is None:
        labels_by_name[name] = label
    else:
        label.other = first.other
        first.other = label
    return label


cdef inline Label label_at_site(object name, object phase):
    """The label of a `with profile(...)`. A call site passes the same objects each time, so their addresses find it
    without hashing; the table holds references, so no address in it can come to mean something else."""
    cdef Remembered *slot = rlprof_site_of(name)
    if slot.name == <PyObject *>name and slot.phase == <PyObject *>phase:
        return <Label>slot.label
    return remember(slot, name, phase)


cdef void forget_sites():
    cdef Remembered old
    cdef int i
    for i in range(256):
        old = remembered[i]
        remembered[i].name = remembered[i].phase = remembered[i].label = NULL
        Py_XDECREF(old.name)
        Py_XDECREF(old.phase)
        Py_XDECREF(old.label)


cdef Label remember(Remembered *slot, object name, object phase):
    cdef Label label = find_label(name, phase, 0)
    cdef Remembered old = slot[0]
    if label is MORE_LABEL or type(name) is not str or not (phase is None or type(phase) is str):
        return label
    Py_XINCREF(<PyObject *>name)
    Py_XINCREF(<PyObject *>phase)
    Py_XINCREF(<PyObject *>label)
    slot.name = <PyObject *>name
    slot.phase = <PyObject *>phase
    slot.label = <PyObject *>label
    Py_XDECREF(old.name)
    Py_XDECREF(old.phase)
    Py_XDECREF(old.label)
    return label
