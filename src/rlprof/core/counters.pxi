# Counters: amounts added up between two drains.

@cython.final
@cython.no_gc
cdef class Counter:
    cdef str name
    cdef double amount
    cdef uint64_t calls
    cdef double whole  # since the start, for iterations


cdef Counter STEPS = Counter.__new__(Counter)
STEPS.name = "env_steps"
counters["env_steps"] = STEPS


def count(name, amount=1):
    """Add to a counter: `count("env_steps", 256)`. env_steps, episodes and updates make the throughput figures."""
    cdef PyObject *found
    cdef Counter counter
    cdef double value
    global amounts_refused
    if not recording:
        return
    try:
        value = amount
        found = PyDict_GetItem(counters, name)
    except Exception:  # a tensor, a string, None: no reason to stop a training program
        amounts_refused += 1
        return
    if not isfinite(value):
        amounts_refused += 1
        return
    if found == NULL:
        if type(name) is not str or len(counters) >= 1024:
            amounts_refused += 1
            return
        counter = Counter.__new__(Counter)
        counter.name = name
        counters[name] = counter
    else:
        counter = <Counter>found
    if not isfinite(counter.whole + value) or not isfinite(counter.amount + value):
        amounts_refused += 1
        return
    counter.amount += value
    counter.whole += value
    counter.calls += 1
