"""`alternate`: two ways of doing something, in turns inside one run, so that they meet the same machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from rlprof import _core

T = TypeVar("T")


def alternate(name: str, values: Sequence[T]) -> T:
    """One of two values, for this turn of the loop: `turbo = alternate("turbo", [False, True])`.

    Call it once per turn. While nobody records, it is always the first value: what the program does as it is. While
    recorded, the values take turns in batches of half a second or more, in random order within each pair of batches;
    `rlprof compare RECORDING --by turbo` then says whether the second is faster than the first.
    """
    if len(values) != 2:
        raise ValueError(f"alternate({name!r}, ...) takes two values, the usual one first; it got {len(values)}")
    if not _core.is_on():
        return values[0]
    from rlprof.record.alternation import turn  # needs what a recording needs, and `import rlprof` must stay quick

    return values[turn(name, values)]
