"""The logarithmic histogram that every path keeps: four buckets per power of two, so 19% wide each.

The compiled core fills the same buckets; a test holds the two definitions together.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Final

#: Durations below 2**FIRST_OCTAVE ns share bucket 0; those of 2**LAST_OCTAVE ns (73 minutes) or more the last one.
FIRST_OCTAVE: Final = 5
LAST_OCTAVE: Final = 42
BUCKETS: Final = 4 * (LAST_OCTAVE - FIRST_OCTAVE) + 2


def bucket_of(duration_ns: int) -> int:
    """The bucket a duration falls into."""
    if duration_ns < 1 << FIRST_OCTAVE:
        return 0
    if duration_ns >= 1 << LAST_OCTAVE:
        return BUCKETS - 1
    octave = duration_ns.bit_length() - 1
    quarter = (duration_ns >> (octave - 2)) & 3
    return 1 + 4 * (octave - FIRST_OCTAVE) + quarter


def bounds_of(bucket: int) -> tuple[int, int]:
    """The half-open range of durations, in ns, that a bucket holds. The last one is closed at its lower bound."""
    if bucket == 0:
        return 0, 1 << FIRST_OCTAVE
    if bucket == BUCKETS - 1:
        return 1 << LAST_OCTAVE, 1 << LAST_OCTAVE
    octave, quarter = divmod(bucket - 1, 4)
    base = 1 << (octave + FIRST_OCTAVE)
    return base + quarter * (base >> 2), base + (quarter + 1) * (base >> 2)


def variation(histogram: Mapping[int, int]) -> float:
    """The standard deviation over the mean, every duration taken to be in the middle of its bucket."""
    total = sum(histogram.values())
    middles = {bucket: sum(bounds_of(bucket)) / 2 for bucket in histogram}
    mean = sum(number * middles[bucket] for bucket, number in histogram.items()) / total if total else 0.0
    if mean <= 0.0:
        return 0.0
    return sqrt(sum(n * (middles[bucket] - mean) ** 2 for bucket, n in histogram.items()) / total) / mean


def quantile(histogram: Mapping[int, int], q: float, low: int, high: int) -> float:
    """The q-quantile in ns, interpolated inside its bucket and kept within the exact minimum and maximum."""
    total = sum(histogram.values())
    if total == 0:
        raise ValueError("a quantile needs at least one observation")
    rank = q * (total - 1)
    seen = 0
    for bucket in sorted(histogram):
        inside = histogram[bucket]
        if rank < seen + inside:
            lower, upper = bounds_of(bucket)
            fraction = (rank - seen + 0.5) / inside
            return min(max(lower + fraction * (upper - lower), low), high)
        seen += inside
    return float(high)
