# Calls that are counted and not timed, so that the recorder's own cost stays within its budget.
#
# Of a path that is thinned, one call in `every` is timed, chosen at random: environments that step in turns would fall
# into step with a fixed choice. What happens inside a call that is not timed is not looked at either.

cdef uint32_t dice = 2463534242u
cdef int64_t untimed_ns = 0  # what one costs that is only counted
cdef uint64_t hasty_calls = 0xFFFFFFFFFFFFFFFFu  # of a path that nobody has judged, so many are timed in full
cdef bint timing_all = False
cdef uint32_t HASTY_EVERY = 16  # and then one in so many, until somebody does


cdef inline uint32_t roll() noexcept:
    """A random number of our own: the program's stay as they are."""
    global dice
    dice ^= dice << 13
    dice ^= dice >> 17
    dice ^= dice << 5
    return dice


cdef inline bint goes_untimed(Node *node) noexcept:
    """Whether this call of a thinned path is only counted."""
    if timing_all:
        return False
    if node.skip:
        node.skip -= 1
        return True
    node.skip = roll() % (2 * node.every - 1)
    return False


cdef inline bint is_thinned(Node *node) noexcept:
    """The same for a path that may be new: a loop of reads comes to thousands of calls before its cost is looked at."""
    if node.every > 1:
        return goes_untimed(node)
    if node.count >= hasty_calls and not node.judged:
        node.every = HASTY_EVERY
    return False


cdef inline void count_untimed(Node *parent, Node *node) noexcept:
    global spans_closed
    node.count += 1
    node.untimed += 1
    spans_closed += 1
    parent.charged += untimed_ns


def set_costs(int64_t passed, int64_t untimed):
    """What calls cost that are let through, and those that are only counted, in nanoseconds."""
    global pass_ns, untimed_ns
    pass_ns, untimed_ns = passed, untimed


def thin(uint32_t path, uint32_t every):
    """From now on time one call in `every` of this path, at most one in a million; 1 times all of them again."""
    cdef Node *node
    if path >= node_count:
        return
    node = nodes[path]
    node.every = min(max(every, 1), 1 << 20)
    node.skip = 0
    node.judged = True


def time_all(bint wanted):
    """Thin nothing for now: somebody looks on who asks which span each thing happened in."""
    global timing_all
    timing_all = wanted


def thin_unjudged_above(uint64_t calls):
    """Time one in a few of the calls from places of the program that come so often before `thin` is called for them."""
    global hasty_calls
    hasty_calls = calls


def thinnable(uint32_t first=0):
    """The paths that can be thinned, with how: (path, one in how many is timed)."""
    cdef uint32_t i
    return [(i, max(nodes[i].every, 1)) for i in range(first, node_count) if nodes[i].thinnable]
