# Env steps, where every tenth of a microsecond counts: who is told that one begins, and what its result says.

cdef extern from "Python.h":
    ctypedef struct Py_buffer:
        void *buf
        Py_ssize_t len
        Py_ssize_t itemsize
        char *format
    int PyObject_GetBuffer(object, Py_buffer *, int) except -1
    void PyBuffer_Release(Py_buffer *) noexcept
    int PyObject_CheckBuffer(object) noexcept
    enum:
        PyBUF_FORMAT

cdef dict episode_returns = {}  # by the environment's id, which may come to mean another one: it begins with a reset
cdef size_t return_of = 0  # the environment that stepped last, whose return is here and not there
cdef double return_so_far = 0


# How many environments are stepped in turn, one call each: of one of them, the steps of all from its own to its next.
cdef size_t round_of = 0  # the id of that one; 0 for none yet
cdef uint64_t since_its_last = 0
cdef uint64_t last_round = 0  # what it was the time before: a turn of another length altogether is a pause
cdef uint64_t rounds_seen = 0
cdef uint64_t steps_in_rounds = 0
cdef uint64_t ENV_GIVEN_UP = 20_000  # so many steps of others: it is stepped no more


cdef inline void see_single_env(size_t env) noexcept:
    global round_of, since_its_last, last_round, rounds_seen, steps_in_rounds
    since_its_last += 1
    if env == round_of:
        if since_its_last <= 2 * last_round and last_round <= 2 * since_its_last:
            rounds_seen += 1
            steps_in_rounds += since_its_last
        last_round = since_its_last
        since_its_last = 0
    elif round_of == 0 or since_its_last > ENV_GIVEN_UP:
        round_of = env
        since_its_last = last_round = 0


def envs_in_turn():
    """How often the turn came back to the environment that is followed, and the steps of all in between."""
    return rounds_seen, steps_in_rounds


cdef inline void begin_step(ThreadRecord *record) noexcept:
    record.env_steps += 1
    record.sampled = record.drawn = False
    if record.acting_count:
        forget_actings(record)


cdef object step_errand = None


def at_next_step(errand):
    """Have `errand()` called before the next env step that is in no other, in the thread that makes it."""
    global step_errand
    step_errand = errand


cdef int run_errand() except -1:
    """What goes wrong here is ours: the step that is about to begin must not hear of it."""
    global step_errand
    errand, step_errand = step_errand, None
    try:
        errand()
    except Exception as error:
        from rlprof.record.complain import complain
        complain("errand", f"what was to be done between two env steps failed: {error!r}")
    return 0


def begin_env_step():
    """An env step begins in this thread. Whether somebody waits to be told."""
    cdef ThreadRecord *record = here()
    begin_step(record)
    if step_errand is not None:
        run_errand()
        record = here()
    return not (record.settled or settle_alone(record))


def count_true(size_t address, Py_ssize_t size):
    """How many of so many bytes are not zero: the flags of a tensor, whose own sum would take twenty times as long."""
    cdef const char *flags = <const char *>address
    cdef Py_ssize_t i
    cdef int64_t found = 0
    for i in range(size):
        found += flags[i] != 0
    return found


def env_steps_here():
    """Env steps that probes have seen begin in this thread."""
    return here().env_steps


def settle_steps(bint settled):
    """Whether the next env step of this thread need not be told to anybody before it begins."""
    here().settled = settled


cdef uint32_t evaluating = 0  # the group of evaluations, once it is known


def leave_out_steps_inside(uint32_t group):
    """Env steps inside this group are no training, and not counted."""
    global evaluating
    if group >= MAX_GROUPS:
        raise ValueError(group)
    evaluating = group


cdef int note_return(object env, double reward, bint ended) except -1:
    global return_of, return_so_far
    if return_of != <size_t><PyObject *>env:
        if return_of:
            episode_returns[return_of] = return_so_far
        return_of = <size_t><PyObject *>env
        return_so_far = episode_returns.get(return_of, 0.0)
    return_so_far += reward
    if ended:
        infer("episodes", 1)
        infer("episode_return", return_so_far)
        return_so_far = 0
    return 0


cdef void forget_returns() noexcept:
    global return_of
    return_of = 0
    episode_returns.clear()


def note_step(env, result):
    """Count one env step, and from its result episodes and their returns; not in an evaluation."""
    if evaluating and here().busy[evaluating]:
        return
    infer_steps(1)
    see_single_env(<size_t><PyObject *>env)
    if type(result) is not tuple or len(<tuple>result) != 5:
        return
    _, reward, terminated, truncated, _ = <tuple>result
    try:
        note_return(env, reward, terminated or truncated)
    except Exception:  # an environment of another making: its steps are counted all the same
        return


def forget_return(env, result):
    """An environment was reset."""
    global return_of
    episode_returns.pop(<size_t><PyObject *>env, None)
    if return_of == <size_t><PyObject *>env:
        return_of = 0


def note_vector_step(envs, result):
    """Count a step of many environments, and the episodes that ended in it; not in an evaluation."""
    cdef int64_t ended
    if evaluating and here().busy[evaluating]:
        return
    infer("env_steps", envs.num_envs)
    if type(result) is not tuple or len(<tuple>result) != 5:
        return
    _, _, terminated, truncated, _ = <tuple>result
    try:
        ended = ended_of(terminated, truncated)
    except Exception:
        return
    if ended:
        infer("episodes", ended)


cdef int note_own_step(object env, object reward, bint ended) except -1:
    infer_steps(1)
    see_single_env(<size_t><PyObject *>env)
    try:
        note_return(env, reward, ended)
    except Exception:  # a reward of any making: the step is counted all the same
        if ended:
            infer("episodes", 1)
    return 0


def note_one_env(env, reward, bint ended):
    """Count a step of one environment, whose result was read elsewhere."""
    note_own_step(env, reward, ended)


@cython.final
cdef class OwnSteps:
    """Counts steps of environments that follow no library, outside of evaluation.

    A result with True or False in its third place, as most of them have, is of one environment and read here; any other is
    for `otherwise(env, result)`.
    """

    cdef uint32_t evaluate
    cdef object otherwise

    def __init__(self, uint32_t evaluate, otherwise):
        if evaluate >= MAX_GROUPS:
            raise ValueError(evaluate)
        self.evaluate = evaluate
        self.otherwise = otherwise

    def __call__(self, env, result):
        cdef tuple parts
        if here().busy[self.evaluate]:
            return
        if type(result) is not tuple or len(<tuple>result) < 3 or type((<tuple>result)[2]) is not bool:
            self.otherwise(env, result)
            return
        parts = <tuple>result
        note_own_step(env, parts[1], parts[2] is True or (len(parts) == 5 and parts[3] is True))


@cython.final
cdef class BatchedSteps:
    """Counts a step of many environments whose result is (observations, rewards, ends, infos), outside of evaluation.

    `failed(error)` is told of ends that cannot be counted.
    """

    cdef uint32_t evaluate
    cdef object failed

    def __init__(self, uint32_t evaluate, failed):
        if evaluate >= MAX_GROUPS:
            raise ValueError(evaluate)
        self.evaluate = evaluate
        self.failed = failed

    def __call__(self, envs, result):
        cdef int64_t ended
        if here().busy[self.evaluate]:
            return
        infer("env_steps", envs.num_envs)
        try:
            ends = result[2]
            ended = ended_of(ends, ends)
        except Exception as error:
            self.failed(error)
            return
        if ended:
            infer("episodes", ended)


cdef int64_t ended_of(object terminated, object truncated) except -1:
    """In how many environments one flag or the other is set."""
    cdef Py_buffer one
    cdef Py_buffer other
    cdef int64_t ended = 0
    cdef Py_ssize_t i
    if not PyObject_CheckBuffer(terminated) or not PyObject_CheckBuffer(truncated):
        # Tensors can be asked themselves, but no device is waited for.
        return (terminated | truncated).sum() if terminated.device.type == "cpu" else 0
    PyObject_GetBuffer(terminated, &one, PyBUF_FORMAT)  # refused where the flags do not lie side by side
    try:
        PyObject_GetBuffer(truncated, &other, PyBUF_FORMAT)
        try:
            if not (are_flags(&one) and are_flags(&other) and one.len == other.len):
                return (terminated | truncated).sum()
            for i in range(one.len):
                ended += (<char *>one.buf)[i] or (<char *>other.buf)[i]
            return ended
        finally:
            PyBuffer_Release(&other)
    finally:
        PyBuffer_Release(&one)


cdef inline bint are_flags(Py_buffer *buffer) noexcept:
    return buffer.itemsize == 1 and buffer.format != NULL and buffer.format[0] == c'?'
