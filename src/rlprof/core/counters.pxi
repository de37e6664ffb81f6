# Counters: amounts added up between two drains.

@cython.final
@cython.no_gc
cdef class Counter:
    cdef str name
    cdef double amount
    cdef uint64_t calls
    cdef double whole  # since the start, for iterations
    cdef double guessed  # the part of it that probes counted
    cdef bint claimed  # the program counts this itself


cdef Counter STEPS = Counter.__new__(Counter)
STEPS.name = "env_steps"
counters["env_steps"] = STEPS


def count(name, amount=1):
    """Add to a counter: `count("env_steps", 256)`. env_steps, episodes and updates make the throughput figures."""
    cdef Counter counter
    if not recording:
        return
    counter = add_to_counter(name, amount)
    if counter is not None and not counter.claimed:
        # What probes have counted so far was the same, seen from outside: from now on the program's own word counts.
        counter.claimed = True
        counter.amount -= counter.guessed
        counter.whole -= counter.guessed
        counter.guessed = 0


def infer_count(name, amount=1):
    """A probe saw something to count; ignored where the program counts it itself."""
    if type(name) is str:
        infer(name, amount)


cdef int infer(str name, object amount) except -1:
    cdef PyObject *found
    cdef Counter counter
    cdef double before
    if not recording:
        return 0
    found = PyDict_GetItem(counters, name)
    if found != NULL and (<Counter>found).claimed:
        return 0
    before = (<Counter>found).whole if found != NULL else 0
    counter = add_to_counter(name, amount)
    if counter is not None:
        counter.guessed += counter.whole - before
    return 0


cdef inline void infer_steps(int64_t steps) noexcept:
    """The same for env steps, without looking for their counter."""
    if recording and not STEPS.claimed:
        STEPS.amount += steps
        STEPS.whole += steps
        STEPS.guessed += steps
        STEPS.calls += 1


cdef Counter add_to_counter(object name, object amount):
    """The counter, or None where the amount was refused: no reason to stop a training program."""
    cdef PyObject *found
    cdef Counter counter
    cdef double value
    global amounts_refused
    if type(name) is not str:
        amounts_refused += 1
        return None
    try:
        value = amount
        found = PyDict_GetItem(counters, name)
    except Exception:  # a tensor of many, a string, None
        amounts_refused += 1
        return None
    if not isfinite(value):
        amounts_refused += 1
        return None
    if found == NULL:
        if len(counters) >= 1024:
            amounts_refused += 1
            return None
        counter = Counter.__new__(Counter)
        counter.name = name
        counters[name] = counter
    else:
        counter = <Counter>found
    if not isfinite(counter.whole + value) or not isfinite(counter.amount + value):
        amounts_refused += 1
        return None
    counter.amount += value
    counter.whole += value
    counter.calls += 1
    return counter
