# The training loop, as far as the order of events tells it: a loss, an update, a turn.
#
# Programs that learn at every step have thousands of these events a second. Where nobody in Python waits to hear of
# them, which is so from a program's first seconds on, they are followed here.

cdef Label loss_label = None


cdef int begin_loss_here(ThreadRecord *record, uint32_t group, PyObject *code, size_t at,
                         int context=NO_CONTEXT) except -1:
    """What follows belongs to the loss until `backward`. `code` and `at` are where its forward was called, if known;
    `context` is that of one that was a target's."""
    global loss_label
    cdef PyObject *span
    if record.loss != NULL or record.busy[group] or record.muted or not recording:
        return 0
    if loss_label is None:
        loss_label = find_label("loss", "learn.loss", KIND_PROBE)
    opened = open_guarded(loss_label, group)
    span = <PyObject *>opened
    Py_XINCREF(span)
    Py_XINCREF(code)
    record.loss = span
    record.loss_code = code
    record.loss_at = at
    record.loss_context = context
    record.settled = False
    return 0


cdef int end_loss_here(ThreadRecord *record) except -1:
    cdef PyObject *span = record.loss
    cdef PyObject *code = record.loss_code
    if span == NULL:
        return 0
    record.loss = record.loss_code = NULL
    close_span(<Span>span)
    Py_XDECREF(span)
    Py_XDECREF(code)
    return 0


cdef int settle_alone(ThreadRecord *record) except -1:
    """Do what an env step means that is about to begin. False where somebody is to be told of it instead."""
    if turns_heard or record.loss_code != NULL or not (record.unheard or goes_on(record)):
        return False
    end_loss_here(record)
    if record.updated:
        record.updated = False
        infer_turn_of(record)
    if not record.unheard:
        turn_to_collecting(record)
    record.settled = True
    return True


def begin_loss(uint32_t group, code=None, size_t at=0, int context=NO_CONTEXT):
    """The same for Python."""
    if group >= MAX_GROUPS:
        raise ValueError(group)
    begin_loss_here(here(), group, NULL if code is None else <PyObject *>code, at, context)


def end_loss():
    """`backward` is reached, or something else that ends a loss."""
    end_loss_here(here())


def open_loss():
    """(code, place, context) of the forward that began the loss that is open in this thread; the context is less than 0
    where that was no target's. (None, 0, -1) where it is not known, and None where no loss is open."""
    cdef ThreadRecord *record = here()
    if record.loss == NULL:
        return None
    if record.loss_code == NULL:
        return None, 0, NO_CONTEXT
    return <object>record.loss_code, record.loss_at, record.loss_context


def leave_alone(bint unheard):
    """Whether nobody wants to be told of the losses, updates and env steps of this thread."""
    cdef ThreadRecord *record = here()
    record.unheard = unheard
    record.follows = False


def hear_turns(bint heard):
    """Whether somebody wants to be told when the loop turns, in whatever thread."""
    global turns_heard
    turns_heard = heard


def set_updated(bint updated):
    """Whether an optimizer has stepped since the last env step of this thread."""
    cdef ThreadRecord *record = here()
    record.updated = updated
    if updated:
        record.drawn = False
        record.settled = False


def is_updated():
    return bool(here().updated)


def forget_loop():
    """This thread begins anew."""
    cdef ThreadRecord *record = here()
    end_loss_here(record)
    forget_stages(record)
    record.updated = record.unheard = record.settled = False


@cython.final
cdef class OptimizerSteps:
    """The two ends of an optimizer's step, as public hooks of torch tell them. One that raises never reaches the second;
    `unseen` is one that is only counted.

    `met(optimizer)` is told of each one once, `updated(optimizer)` of every step where somebody waits for it.
    """

    cdef uint32_t group
    cdef Label label
    cdef Span open
    cdef bint unseen
    cdef object met
    cdef object updated
    cdef set known

    def __init__(self, uint32_t group, met, updated):
        if group >= MAX_GROUPS:
            raise ValueError(group)
        self.group = group
        self.met = met
        self.updated = updated
        self.known = set()

    def before(self, *_):
        cdef ThreadRecord *record
        cdef int64_t began = now()
        self.close()
        record = here()
        end_loss_here(record)
        self.unseen = recording and record.muted and not record.busy[self.group]
        if not recording or record.muted or record.busy[self.group]:
            return
        if self.label is None:
            self.label = find_label("optimizer", "learn.optimizer", KIND_PROBE)
        innermost(record).charged += now() - began
        self.open = open_guarded(self.label, self.group)

    def after(self, optimizer=None, *_):
        cdef ThreadRecord *record
        cdef int64_t began
        cdef bint is_known
        if self.open is None:
            if self.unseen:
                self.count_unseen()
            return
        self.close()
        began = now()
        key = <size_t><PyObject *>optimizer
        is_known = key in self.known
        if not is_known:
            self.known.add(key)
            self.met(optimizer)
        record = here()
        if record.unheard or (is_known and goes_on(record) and draws_nothing_new(record)):
            record.updated = True
            record.drawn = False
            record.settled = False
            infer("updates", 1)
            if not record.unheard:
                note_update_here(record)
                turn_to_learning(record)
        else:
            self.updated(optimizer)
            record = here()
        if recording:
            innermost(record).charged += now() - began

    cdef int count_unseen(self) except -1:
        """Inside a call that is not looked into, updates are counted all the same."""
        cdef ThreadRecord *record = here()
        self.unseen = False
        record.updated = True
        record.drawn = False
        record.settled = False
        infer("updates", 1)
        return 0

    cdef int close(self) except -1:
        cdef Span span = self.open
        self.open = None
        if span is not None:
            close_span(span)
        return 0
