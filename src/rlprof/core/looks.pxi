# What the recorder itself takes, looked at now and then where it takes it.
#
# Between two spans a program uses the caches for other things, so a span costs it several times what it costs in a loop
# of nothing but spans. Of calls that probes see, one in so many is timed at more points: where the recorder is entered,
# where it lets the call go, and where it is done with it.

cdef enum:
    KIND_PASSED = 10
    KIND_UNTIMED = 11
    LOOKED_AT = 12  # kinds
    LOOK_EVERY = 32  # calls, on average
    INTERRUPTED_NS = 20000  # the recorder never takes that long: the system ran something else meanwhile

cdef struct Look:
    uint64_t count
    int64_t inside  # of spans' own durations
    int64_t outside

cdef Look looks[LOOKED_AT]
cdef uint32_t look_skip = 0


cdef inline bint is_looked_at() noexcept:
    """Whether what this call costs is looked at."""
    global look_skip
    if look_skip:
        look_skip -= 1
        return False
    look_skip = roll() % (2 * LOOK_EVERY - 1)
    return True


cdef void see_cost(uint32_t kind, int64_t inside, int64_t outside) noexcept:
    if kind < LOOKED_AT and 0 <= inside and 0 <= outside and inside + outside < INTERRUPTED_NS:
        looks[kind].count += 1
        looks[kind].inside += inside
        looks[kind].outside += outside


cdef void see_span(Node *node, int64_t inside, int64_t outside) noexcept:
    """A span was looked at: what it took inside its own duration, and outside."""
    see_cost((<Label>labels[node.label]).kind, inside, outside)


cdef void see_call(uint32_t kind, int64_t entered) noexcept:
    """A call without a span was looked at, which the recorder was asked about when it was entered."""
    see_cost(kind, 0, now() - entered)


def take_looks():
    """{kind: (how many were looked at, ns they took inside their spans, ns outside)} since the last call."""
    cdef uint32_t i
    taken = {}
    for i in range(LOOKED_AT):
        if looks[i].count:
            taken[i] = (looks[i].count, looks[i].inside, looks[i].outside)
    memset(looks, 0, sizeof(looks))
    return taken
