"""Amounts that belong to uneven slices of time, put on an even grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rlprof.model.recording import FloatColumn, IntColumn

#: What is left over from adding and subtracting the same floats is not an amount.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Slices:
    """An amount that came about somewhere between `start_ns` and `end_ns`, per row."""

    start_ns: IntColumn
    end_ns: IntColumn
    amount: FloatColumn


def spread(slices: Slices, start_ns: int, end_ns: int, cell_ns: int) -> tuple[FloatColumn, IntColumn]:
    """The amount in each cell of a grid and the grid's edges; slices count by their overlap, as if even inside.

    The last cell reaches to `end_ns` and is between half and one and a half cells wide, so that no rate is computed
    from a sliver. What lies outside the grid is left out.
    """
    cells = max(1, round((end_ns - start_ns) / cell_ns))
    edges = start_ns + cell_ns * np.arange(cells + 1, dtype=np.int64)
    edges[-1] = end_ns
    length = np.maximum(slices.end_ns - slices.start_ns, 1)
    low = np.clip(slices.start_ns, start_ns, end_ns)
    high = np.clip(np.maximum(slices.end_ns, slices.start_ns + 1), start_ns, end_ns)
    inside = high > low
    low, high, rate = low[inside], high[inside], (slices.amount / length)[inside]
    first = np.minimum((low - start_ns) // cell_ns, cells - 1)
    last = np.minimum((high - 1 - start_ns) // cell_ns, cells - 1)
    # The first and the last cell of a slice get their part, whole cells between them the full rate.
    across = last > first
    amounts = _summed(first, rate * (np.minimum(high, edges[first + 1]) - low), cells)
    amounts += _summed(last[across], (rate * (high - edges[last]))[across], cells)
    between = last > first + 1
    if between.any():
        amounts += _running_rate(first[between] + 1, last[between], rate[between], cells) * np.diff(edges)
    return amounts, edges


def _running_rate(begin: IntColumn, end: IntColumn, rate: FloatColumn, cells: int) -> FloatColumn:
    """The sum of the rates of all slices that cover a cell whole, from their changes at each edge."""
    running = np.cumsum(_summed(begin, rate, cells + 1) - _summed(end, rate, cells + 1))[:-1]
    running[running < _ROUNDING * max(float(rate.max()), 0.0)] = 0.0
    return running


def _summed(cell: IntColumn, amount: FloatColumn, cells: int) -> FloatColumn:
    return np.asarray(np.bincount(cell, amount, cells), dtype=np.float64)
