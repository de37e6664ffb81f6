# A network's forward pass: only the outermost call is one; whether it acts or learns is told by its gradients.

cdef str COMPILING_FLAG = "_is_compiling_flag"


# Places whose forwards without gradients mean something: where they were called is compared with these.
cdef enum:
    MAX_WATCHED = 16

cdef PyObject *watched_code[MAX_WATCHED]
cdef size_t watched_at[MAX_WATCHED]
cdef int watched_context[MAX_WATCHED]
cdef bint watched_target[MAX_WATCHED]
cdef uint64_t watched_begun[MAX_WATCHED]  # losses that began there
cdef int watched_count = 0

# One place may act at one time and help to learn at another, where a function asks a network for both.
cdef enum:
    NO_CONTEXT = -1
    AFTER_STEP = 0
    AFTER_DRAW = 1  # from a buffer
    AFTER_UPDATE = 2


cdef inline int context_of(ThreadRecord *record) noexcept:
    return AFTER_DRAW if record.drawn else AFTER_UPDATE if record.updated else AFTER_STEP


def watch_place(code, size_t at, int context, bint target):
    """Have the next forwards without gradients from this place told. Whoever watches keeps the code alive.

    With the place of a `target` network a loss begins.
    """
    global watched_count
    if watched_count < MAX_WATCHED:
        watched_code[watched_count] = <PyObject *>code
        watched_at[watched_count] = at
        watched_context[watched_count] = context
        watched_target[watched_count] = target
        watched_begun[watched_count] = 0
        watched_count += 1


def unwatch_place(code, size_t at, int context):
    """Not any more."""
    global watched_count
    cdef int i = watched_place(<PyObject *>code, at, context)
    if i >= 0:
        watched_count -= 1
        watched_code[i] = watched_code[watched_count]
        watched_at[i] = watched_at[watched_count]
        watched_context[i] = watched_context[watched_count]
        watched_target[i] = watched_target[watched_count]
        watched_begun[i] = watched_begun[watched_count]


def losses_begun_at(code, size_t at, int context):
    """How many losses began with the target of this place."""
    cdef int i = watched_place(<PyObject *>code, at, context)
    return watched_begun[i] if i >= 0 else 0


def context_here():
    """What came last in this thread, as a number: an env step, a draw or an update."""
    return context_of(here())


def forget_places():
    global watched_count
    watched_count = 0


def last_actings():
    """(number, [(code, place, context, module, sampled), ...]) of the last forwards without gradients since the last env
    step, in order; `sampled` are those after something was drawn from a buffer."""
    cdef ThreadRecord *record = here()
    cdef Acting *one
    cdef int i
    found = []
    for i in range(record.acting_count):
        one = &record.acting[i]
        found.append((<object>one.code, one.at, one.context, <object>one.module, bool(one.sampled)))
    return record.acted, found


def note_sample(buffer=None, drawn=None):
    """Something was drawn from a buffer: what is asked from here to the next env step may be for learning."""
    here().sampled = here().drawn = True


cdef int watched_place(PyObject *code, size_t at, int context) noexcept:
    """Which of the places that are watched this is; -1 for none."""
    cdef int i
    for i in range(watched_count):
        if watched_code[i] == code and watched_at[i] == at and watched_context[i] == context:
            return i
    return -1


cdef void remember_acting(ThreadRecord *record, PyObject *code, size_t at, PyObject *module) noexcept:
    """The same place again, as for each environment in turn, is remembered once; of too many, the latest."""
    cdef int last = record.acting_count - 1
    cdef Acting before
    record.acted += 1
    if last < MAX_ACTING - 1 and not (last >= 0 and record.acting[last].code == code and record.acting[last].at == at
                                      and record.acting[last].context == context_of(record)):
        last += 1
        record.acting_count += 1
        record.acting[last].code = record.acting[last].module = NULL
    before = record.acting[last]
    Py_XINCREF(code)
    Py_XINCREF(module)
    record.acting[last].code = code
    record.acting[last].module = module
    record.acting[last].at = at
    record.acting[last].context = context_of(record)
    record.acting[last].sampled = record.sampled
    Py_XDECREF(before.code)
    Py_XDECREF(before.module)


cdef void forget_actings(ThreadRecord *record) noexcept:
    cdef Acting one
    while record.acting_count:
        record.acting_count -= 1
        one = record.acting[record.acting_count]
        Py_XDECREF(one.code)
        Py_XDECREF(one.module)


cdef inline bint is_watched_acting(Acting *one) noexcept:
    return watched_place(one.code, one.at, one.context) >= 0


cdef bint draws_nothing_new(ThreadRecord *record) noexcept:
    """The same of those after something was drawn from a buffer, at an update."""
    cdef int i
    for i in range(record.acting_count):
        if record.acting[i].sampled and not is_watched_acting(&record.acting[i]):
            return False
    return True


cdef bint brings_nothing_new(ThreadRecord *record) noexcept:
    """Of the last forwards without gradients since the last env step, at the beginning of a loss: they are known, or none."""
    cdef int i
    for i in range(record.acting_count):
        if not is_watched_acting(&record.acting[i]):
            return False
    return True


@cython.final
cdef class Forward:
    """The call of a module. Classes, copies and compilers find the original.

    `groups` are those of forwards, losses, training and evaluation. `begins(code, place)` is asked at a forward with
    gradients outside of a loss: whether that place is known to act; if not, the loss begins with it. It is told (None, 0)
    of one without gradients that training as a whole is around. `acts(code, place)` is told of forwards without gradients
    that somebody waits for, and says whether one is for learning all the same. Where it is `wrapped`, it is called by a
    function of ours, and the place is where that one is called.
    """

    cdef call_step step
    cdef object original
    cdef object has_gradients
    cdef object is_compiling
    cdef dict flags  # of the module that `is_compiling` is from
    cdef object begins
    cdef object acts
    cdef uint32_t forward, loss, train, evaluate
    cdef Label acting, learning, plain
    cdef bint wrapped
    cdef dict __dict__

    def __init__(self, original, has_gradients, is_compiling, begins, acts, groups, bint wrapped=False):
        global forward_group
        self.forward, self.loss, self.train, self.evaluate = groups
        if max(groups) >= MAX_GROUPS:
            raise ValueError(groups)
        forward_group = self.forward
        self.original = original
        self.has_gradients = has_gradients
        self.is_compiling = is_compiling
        self.flags = getattr(is_compiling, "__globals__", None)
        self.begins = begins
        self.acts = acts
        self.wrapped = wrapped
        self.step = call_forward

    def __call__(self, *args, **kwargs):
        """For whoever does not call `step` itself."""
        return call_slowly(<PyObject *>self, args, kwargs)

    def __get__(self, instance, owner):
        return self.original if instance is None else PyMethod_New(self.original, instance)

    def __reduce__(self):
        return as_it_was(self.original)


cdef inline void find_forwards_caller(Forward self, PyObject **code, size_t *at) noexcept:
    if self.wrapped:
        rlprof_find_second_caller(PyThreadState_Get(), code, at)
    else:
        rlprof_find_caller(PyThreadState_Get(), code, at)


cdef Label label_of_forward(Forward self, ThreadRecord *record, PyObject *module):
    cdef PyObject *code
    cdef size_t at
    cdef int place
    if self.acting is None:  # the phases are known by now
        self.learning = find_label("forward", "learn.loss", KIND_PROBE)
        self.plain = find_label("forward", None, KIND_PROBE)
        self.acting = find_label("forward", "policy.forward", KIND_PROBE)
    if self.has_gradients():
        if record.busy[self.loss]:
            return self.learning
        find_forwards_caller(self, &code, &at)
        if record.unheard:
            begin_loss_here(record, self.loss, code, at)
            return self.learning
        if code != NULL and goes_on(record) and brings_nothing_new(record):
            turn_to_learning(record)
            begin_loss_here(record, self.loss, code, at)
            return self.learning
        if code == NULL or not self.begins(<object>code, at):
            return self.learning
        record = here()
    if record.busy[self.evaluate]:
        return self.plain
    # A target network has no gradients either, but it is asked in the middle of learning.
    if record.busy[self.loss]:
        return self.learning
    if record.busy[self.train]:
        if record.unheard:
            begin_loss_here(record, self.loss, NULL, 0)
        else:
            self.begins(None, 0)
        return self.learning
    find_forwards_caller(self, &code, &at)
    if code == NULL:
        return self.acting
    remember_acting(record, code, at, module)
    place = watched_place(code, at, context_of(record))
    if place < 0 and not record.staged:
        return self.acting
    if goes_on(record) and (place < 0 or watched_target[place]):
        if place < 0:
            turn_to_collecting(record)
            return self.acting
        turn_to_learning(record)
        watched_begun[place] += 1
        begin_loss_here(record, self.loss, code, at, context_of(record))
        return self.learning
    if not self.acts(<object>code, at):
        return self.acting
    if place >= 0:
        watched_begun[place] += 1
    return self.learning


cdef inline bint is_traced_now(Forward self) except -1:
    """Whether torch traces the program. Asking the flag itself saves two calls of Python for each forward."""
    cdef PyObject *flag
    if self.flags is not None:
        flag = PyDict_GetItem(self.flags, COMPILING_FLAG)
        if flag != NULL:
            return (<object>flag) is not False
    return self.is_compiling()


cdef PyObject *call_forward(PyObject *forward, PyObject **args, size_t count, PyObject *names) except NULL:
    cdef Forward self = <Forward>forward
    cdef PyObject *original = <PyObject *>self.original
    cdef ThreadRecord *record
    cdef Node *node
    cdef Node *child
    cdef Label label
    cdef bint folded = False
    cdef int64_t looked = 0
    global forward_passed
    if not recording:
        return PyObject_Vectorcall(original, args, count, names)
    if is_looked_at():
        looked = now()
    if forward_in != NULL and forward_in == PyThreadState_Get():
        forward_passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    record = here()
    if record.busy[self.forward] or record.muted:
        record.passed += 1
        if looked:
            see_call(KIND_PASSED, looked)
        return PyObject_Vectorcall(original, args, count, names)
    if is_traced_now(self):
        return PyObject_Vectorcall(original, args, count, names)
    label = label_of_forward(self, record, args[0] if count & COUNT_MASK else NULL)
    record = here()
    node = innermost(record)
    child = node_below(record, node, label.id, &folded)
    child.thinnable = True
    if child.every > 1 and goes_untimed(child):
        return call_untimed(record, node, child, self.forward, looked, original, args, count, names)
    return call_in_span(record, child, folded, forward, self.forward, looked, original, args, count, names)


rlprof_call_like_a_method(Forward)
