# Limits, structures and the recorder's whole state.

# What keeps memory bounded whatever the program does.
cdef enum:
    MAX_NODES = 4096  # paths per process; further ones are booked on their thread's "(more paths)"
    TABLE = 16384  # slots of the child table, a power of two, four times the nodes
    MAX_LABELS = 4096
    MAX_LANES = 64  # threads with a tree of their own; further ones share one
    MAX_DEPTH = 128  # deeper spans are booked on the span they are in
    FIRST_OCTAVE = 5
    LAST_OCTAVE = 42
    BUCKETS = 150  # 4 * (LAST_OCTAVE - FIRST_OCTAVE) + 2
    CHUNK = 32768  # events handed over at a time
    MAX_CHUNKS = 8
    FLIGHT = 16384  # events kept of one iteration
    MAX_SLOW = 16
    MAX_GROUPS = 32
    MAX_ACTING = 4  # two critics' targets and an actor's are three
    MAX_TURNS = 4096  # iterations listed per drain
    SEEN = 16  # children that a node finds at once, by the last bits of their labels

cdef int64_t NEVER = 0x7FFFFFFFFFFFFFFF  # the shortest of no durations

cdef enum Kind:
    KIND_FUNCTION = 1
    KIND_ITERATION = 5
    KIND_ROOT = 6
    KIND_PROBE = 7

cdef struct Node

cdef struct Seen:
    Node *child
    uint32_t label

cdef struct Node:
    Node *parent
    # What every call touches comes first, in as few lines of the cache as can be.
    uint32_t id
    uint32_t label
    uint32_t lane
    uint32_t every  # one call in so many is timed; 0 and 1: all are
    uint32_t skip  # calls that go untimed until the next is timed
    bint thinnable  # its calls can be counted without being timed
    bint judged  # somebody has said how it is to be timed
    uint64_t untimed  # calls, of `count`, that were not timed
    uint64_t count
    int64_t own
    int64_t charged
    int64_t total
    int64_t shortest
    int64_t longest
    Seen seen[SEEN]  # children that were asked for last: loops ask for the same ones
    int64_t rss_peak
    int64_t rss_rise
    int64_t device_rise
    uint32_t exact
    bint tracked  # its memory is measured exactly: samples would only blur it
    uint32_t histogram[BUCKETS]

cdef struct Frame:
    Node *node
    PyObject *span  # whose frame it is; NULL for an iteration
    int64_t start
    int64_t rss_at_entry
    uint32_t group  # of work that must not be counted twice; 0 for none
    bint folded  # below the depth limit: counts calls, its time is in the span around it

cdef struct Stack:
    PyObject *context
    Frame *frames
    int depth
    int room
    Stack *next

cdef struct Lane:
    Node *root
    uint64_t ident
    Node *more

cdef struct Acting:
    PyObject *code
    PyObject *module
    size_t at
    int context
    bint sampled  # after something was drawn from a buffer

cdef struct ThreadRecord:
    uint64_t serial  # of the interpreter's thread state: never used twice
    Stack *current
    uint32_t passed  # calls that were let through since time was last booked
    uint32_t muted  # calls in progress that are counted and not looked into
    int64_t last
    uint64_t ident
    uint32_t busy[MAX_GROUPS]  # open spans of each group
    uint32_t groups  # a bit for each that is busy
    Acting acting[MAX_ACTING]  # where the last forwards without gradients since the last env step were made
    int acting_count
    uint64_t acted  # such forwards
    bint sampled  # something was drawn from a buffer since the last env step
    bint drawn  # and no optimizer has stepped since then
    bint staged  # somebody waits to be told of the next one
    bint settled  # nobody waits to be told of the next env step
    bint unheard  # nor of anything else that tells how the loop goes
    bint updated  # an optimizer has stepped since the last env step
    PyObject *loss  # the span from the first forward with gradients to `backward`
    PyObject *loss_code  # where that forward was called, if known
    size_t loss_at
    int loss_context  # where it began with a target: of that one; else NO_CONTEXT
    PyObject *learning  # the inferred span from the first loss to the next acting
    PyObject *collecting  # and from there to the next loss
    bint follows  # both are followed by the core as long as there are
    uint32_t stage_paths  # no more paths than these
    bint trains  # an optimizer has stepped
    uint64_t steps_at_update  # env steps when it last did
    uint64_t env_steps  # that probes have seen begin
    Stack *base
    Lane *lane
    ThreadRecord *next

cdef struct Event:
    uint32_t path
    int64_t start
    int64_t duration

cdef struct Turn:
    int64_t start
    int64_t duration
    double env_steps

cdef struct SlowTurn:
    int64_t index
    int64_t start
    int64_t duration
    int64_t elided
    int64_t elided_below
    uint32_t events
    bint fresh
    Event *log

cdef packed struct Row:
    uint32_t path
    uint32_t exact
    uint64_t count
    uint64_t untimed
    int64_t total
    int64_t own
    int64_t shortest
    int64_t longest
    int64_t charged
    int64_t rss_peak
    int64_t rss_rise
    int64_t device_rise

cdef packed struct Bin:
    uint32_t row
    uint32_t bucket
    uint32_t count

cdef packed struct OpenSpan:
    uint32_t path
    int64_t start

cdef bint fake_clock = False
cdef int64_t fake_now = 0

cdef Node *nodes[MAX_NODES]
cdef uint32_t node_count = 0
cdef Node *children[TABLE]
cdef Lane lanes[MAX_LANES]
cdef uint32_t lane_count = 0
cdef ThreadRecord *records = NULL
cdef ThreadRecord *last_record = NULL
cdef PyThreadState *last_state = NULL
cdef uint64_t last_serial = 0
cdef uint64_t main_ident = 0
cdef bint recorders_beside_main = False  # whether another thread than the main one records spans

cdef dict labels_by_name = {}
cdef list labels = []
cdef dict counters = {}
cdef int64_t last_rss = 0

# Most calls of modules are made inside another one's, a dozen for each that is a forward pass: they are let through with as
# few looks at memory as can be.
cdef PyThreadState *forward_in = NULL  # the thread whose forward pass is under way
cdef uint32_t forward_passed = 0  # calls that were let through in it, and are not in its record yet
cdef uint32_t forward_group = 0  # that of forward passes, once it is known

cdef int64_t pass_ns = 0  # what a call costs that is looked at and let through
cdef uint64_t spans_closed = 0
cdef int64_t closed_at = 0  # when the last span was closed
cdef uint64_t spans_abandoned = 0
cdef uint64_t exits_unmatched = 0
cdef uint64_t spans_folded = 0
cdef uint64_t amounts_refused = 0
cdef int64_t recorded_ns = 0  # time switched on, up to `resumed`
cdef int64_t resumed = 0

cdef bint logging_events = False
cdef Event *chunk = NULL
cdef uint32_t chunk_fill = 0
cdef list full_chunks = []
cdef uint64_t events_emitted = 0
cdef uint64_t events_dropped = 0

cdef ThreadRecord *leader = NULL  # the thread whose iterations count
cdef int64_t leader_lane = -1
cdef int64_t turn_index = -1
cdef int64_t turn_start = 0
cdef bint turn_open = False
cdef bint turns_marked = False  # by the program itself
cdef bint turns_heard = False  # somebody in Python is to be told of each
cdef double turn_steps = 0
cdef Turn turns[MAX_TURNS]
cdef uint32_t turn_fill = 0
cdef uint64_t turns_dropped = 0
cdef uint64_t turns_closed = 0
cdef int64_t wait_turns = 0, warmup_turns = 0, active_turns = 0, repeat_turns = 0

cdef Event *flight = NULL
cdef uint32_t flight_fill = 0
cdef int64_t flight_floor = 0
cdef int64_t flight_elided = 0
cdef SlowTurn slow[MAX_SLOW]
cdef int slow_room = 0
cdef int slow_count = 0

cdef object memory_span_factory = None
cdef object on_bad_phase = None
cdef frozenset known_phases = frozenset()


cdef inline int64_t now() noexcept:
    return fake_now if fake_clock else rlprof_clock()
