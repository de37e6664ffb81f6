# Running totals of every path, beside what is measured, so that each flush can write them whole.

cdef struct Totals:
    bint changed  # since `settle`
    uint64_t count
    uint64_t untimed
    int64_t total
    int64_t own
    int64_t shortest
    int64_t longest
    int64_t charged
    uint32_t exact
    int64_t rss_peak  # -1: never seen
    int64_t rss_rise
    int64_t device_rise
    uint64_t histogram[BUCKETS]


@cython.final
cdef class PathTotals:
    """One entry per path, made as paths appear."""

    cdef Totals *entries[MAX_NODES]
    cdef uint32_t room  # all paths have lower numbers
    cdef readonly uint64_t spans  # closed spans that the totals hold

    def __dealloc__(self):
        cdef int i
        for i in range(MAX_NODES):
            free(self.entries[i])

    cdef Totals *entry(self, uint32_t path) except NULL:
        cdef Totals *entry
        if path >= MAX_NODES:
            raise ValueError(path)
        entry = self.entries[path]
        if entry == NULL:
            entry = <Totals *>calloc(1, sizeof(Totals))
            if entry == NULL:
                raise MemoryError
            entry.shortest = NEVER
            entry.rss_peak = entry.rss_rise = entry.device_rise = -1
            self.entries[path] = entry
            self.room = max(self.room, path + 1)
        entry.changed = True
        return entry

    def add(self, bytes rows, bytes bins):
        """Take in what `drain` handed over: packed bytes of Row and Bin."""
        cdef const char *row_data = rows
        cdef const char *bin_data = bins
        cdef const Row *row = <const Row *>row_data
        cdef const Row *first = row
        cdef const Bin *one = <const Bin *>bin_data
        cdef Totals *entry
        cdef Py_ssize_t i
        for i in range(len(rows) // <Py_ssize_t>sizeof(Row)):
            row = &first[i]
            entry = self.entry(row.path)
            self.spans += row.count
            entry.count += row.count
            entry.untimed += row.untimed
            entry.total += row.total
            entry.own += row.own
            entry.shortest = min(entry.shortest, row.shortest)
            entry.longest = max(entry.longest, row.longest)
            entry.charged += row.charged
            entry.exact |= row.exact
            if row.rss_peak > 0 or row.exact:
                entry.rss_peak = max(entry.rss_peak, row.rss_peak)
                entry.rss_rise = max(entry.rss_rise, row.rss_rise)
            # One is added to a device's figure, so that 0 can say that there was no device.
            entry.device_rise = max(entry.device_rise, row.device_rise - 1)
        for i in range(len(bins) // <Py_ssize_t>sizeof(Bin)):
            if one[i].bucket < BUCKETS:
                self.entry(first[one[i].row].path).histogram[one[i].bucket] += one[i].count

    def add_unseen(self, uint32_t path, uint64_t calls):
        """Calls that nobody looked at and that must have been: no spans, so they are not among those."""
        cdef Totals *entry = self.entry(path)
        entry.count += calls
        entry.untimed += calls

    def changed_rows(self):
        """Rows of the path_stats table for the paths that changed since `settle`."""
        cdef uint32_t i
        return [row_of(i, self.entries[i]) for i in range(self.room)
                if self.entries[i] != NULL and self.entries[i].changed]

    def settle(self):
        """What changed so far is on disk."""
        cdef uint32_t i
        for i in range(self.room):
            if self.entries[i] != NULL:
                self.entries[i].changed = False


cdef object row_of(uint32_t path, Totals *entry):
    cdef bint timed = entry.shortest != NEVER
    return (
        path, entry.count, entry.total, entry.own, entry.shortest if timed else None, entry.longest if timed else None,
        entry.charged, seen_or_none(entry.rss_peak), seen_or_none(entry.rss_rise), entry.exact,
        seen_or_none(entry.device_rise), packed_histogram(entry.histogram), entry.untimed,
    )


cdef object seen_or_none(int64_t value):
    return None if value < 0 else value


cdef bytes packed_histogram(const uint64_t *histogram):
    """A histogram's filled buckets, then their counts, each in eight bytes with the lowest first."""
    cdef unsigned char buckets[BUCKETS]
    cdef unsigned char counts[8 * BUCKETS]
    cdef uint64_t left
    cdef int i, j, filled = 0
    for i in range(BUCKETS):
        if histogram[i]:
            buckets[filled] = <unsigned char>i
            left = histogram[i]
            for j in range(8):
                counts[8 * filled + j] = <unsigned char>(left & 0xFF)
                left >>= 8
            filled += 1
    return (<char *>buckets)[:filled] + (<char *>counts)[:8 * filled]
