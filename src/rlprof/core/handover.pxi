# Handing over what was measured since the last time, in one piece.

def drain():
    """Hand over what changed since the last call, in one piece.

    Returns (now, rows, bins, open spans, counters, iterations, totals): packed bytes of Row, Bin, OpenSpan and Turn,
    a list of (name, amount, calls), and a dict of running totals.
    """
    global turn_fill
    cdef int64_t t = now()
    cdef uint32_t i, b, filled = 0, bins = 0, opened = 0
    cdef Node *node
    cdef Row *rows
    cdef Bin *all_bins
    cdef OpenSpan *all_open
    cdef ThreadRecord *record
    cdef Stack *stack
    cdef Counter counter
    cdef uint64_t closed
    if recording:
        book_all(t)
    for i in range(node_count):
        node = nodes[i]
        if node.count:
            for b in range(BUCKETS):
                if node.histogram[b]:
                    bins += 1
    record = records
    while record != NULL:
        stack = record.base
        while stack != NULL:
            opened += stack.depth
            stack = stack.next
        record = record.next
    rows = <Row *>malloc((node_count + 1) * sizeof(Row))
    all_bins = <Bin *>malloc((bins + 1) * sizeof(Bin))
    all_open = <OpenSpan *>malloc((opened + 1) * sizeof(OpenSpan))
    if rows == NULL or all_bins == NULL or all_open == NULL:
        free(rows); free(all_bins); free(all_open)
        raise MemoryError
    closed = spans_closed
    bins = opened = 0
    for i in range(node_count):
        node = nodes[i]
        if not (node.count or node.own or node.charged or node.rss_peak or node.exact or node.device_rise):
            continue
        take_row(node, &rows[filled])
        if node.count:
            for b in range(BUCKETS):
                if node.histogram[b]:
                    all_bins[bins].row = filled
                    all_bins[bins].bucket = b
                    all_bins[bins].count = node.histogram[b]
                    bins += 1
            memset(node.histogram, 0, sizeof(node.histogram))
        node.count = 0
        filled += 1
    record = records
    while record != NULL:
        stack = record.base
        while stack != NULL:
            for i in range(<uint32_t>stack.depth):
                if not stack.frames[i].folded:
                    all_open[opened].path = stack.frames[i].node.id
                    all_open[opened].start = stack.frames[i].start
                    opened += 1
            stack = stack.next
        record = record.next
    # From here on objects are made, which may run a collection and with it a finaliser that closes spans: the
    # copies above are whole, so whatever that does belongs to the next drain.
    totals = _totals(t, closed)
    changed = []
    for counter in list(counters.values()):
        if counter.calls:
            changed.append((counter.name, counter.amount, counter.calls))
            counter.amount = 0
            counter.calls = 0
    iterations = (<char *>turns)[:turn_fill * sizeof(Turn)]
    turn_fill = 0
    row_bytes = (<char *>rows)[:filled * sizeof(Row)]
    bin_bytes = (<char *>all_bins)[:bins * sizeof(Bin)]
    open_bytes = (<char *>all_open)[:opened * sizeof(OpenSpan)]
    free(rows); free(all_bins); free(all_open)
    return t, row_bytes, bin_bytes, open_bytes, changed, iterations, totals


cdef void take_row(Node *node, Row *row) noexcept:
    row.path = node.id
    row.exact = node.exact
    row.count = node.count
    row.untimed = node.untimed
    node.untimed = 0
    row.total = node.total
    row.own = node.own
    row.shortest = node.shortest
    row.longest = node.longest
    row.charged = node.charged
    row.rss_peak = node.rss_peak
    row.rss_rise = node.rss_rise
    row.device_rise = node.device_rise
    node.total = node.own = node.longest = node.charged = 0
    node.shortest = NEVER
    node.rss_peak = node.rss_rise = node.device_rise = 0
    node.exact = 0


cdef dict _totals(int64_t t, uint64_t closed):
    return {
        "recorded_ns": recorded_ns + (t - resumed if recording else 0),
        "iteration_lane": None if leader_lane < 0 else leader_lane,
        "iterations": turns_closed,
        "spans_emitted": closed,
        "spans_abandoned": spans_abandoned,
        "spans_folded": spans_folded,
        "exits_unmatched": exits_unmatched,
        "amounts_refused": amounts_refused,
        "iterations_dropped": turns_dropped,
        "events_emitted": events_emitted,
        "events_dropped": events_dropped,
    }


def drain_events():
    """All logged events since the last call, as a list of packed bytes of Event."""
    if chunk_fill:
        hand_over_chunk()
    taken = list(full_chunks)
    full_chunks.clear()
    return taken


def drain_slow_iterations():
    """The slowest iterations that are new since the last call, and the indices of all that are kept."""
    fresh = []
    kept = []
    cdef int i
    for i in range(slow_count):
        kept.append(slow[i].index)
        if slow[i].fresh:
            slow[i].fresh = False
            fresh.append((slow[i].index, slow[i].start, slow[i].duration, slow[i].elided, slow[i].elided_below,
                          (<char *>slow[i].log)[:slow[i].events * sizeof(Event)]))
    return fresh, kept


def paths_since(uint32_t first):
    """(id, parent or None, lane, name, phase, kind) of every path from number `first` on."""
    found = []
    cdef uint32_t i
    cdef Label label
    for i in range(first, node_count):
        label = labels[nodes[i].label]
        found.append((nodes[i].id, None if nodes[i].parent == NULL else nodes[i].parent.id, nodes[i].lane,
                      label.name, label.phase, label.kind))
    return found


def lanes_since(uint32_t first):
    """(number, thread ident, shared by several threads, main) of every lane from number `first` on."""
    cdef uint32_t i
    return [(i, lanes[i].ident, i == MAX_LANES - 1, lanes[i].ident == main_ident) for i in range(first, lane_count)]


def sizes():
    """Bytes of the packed records and the shape of the histogram, for whoever reads them."""
    return {"Row": sizeof(Row), "Bin": sizeof(Bin), "OpenSpan": sizeof(OpenSpan), "Turn": sizeof(Turn),
            "Event": sizeof(Event), "buckets": BUCKETS, "max_paths": MAX_NODES}
