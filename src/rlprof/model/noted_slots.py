"""Which slots of time single steps of vector environments are noted in.

The choice is a function of the monotonic clock alone, which all processes of a run share: parent and workers note the
same steps without a word between them. All slots are noted at first, then ever fewer: about as many in each doubling of
the time since a process's first step, down to one in 256. A slot that a process notes late is one that a younger one
notes, too.
"""

from __future__ import annotations

from typing import Final

SLOT_BITS: Final = 27  # a slot is 134 ms
ALL_SLOTS: Final = 64  # noted whole at first, 8.6 s
SPARSEST: Final = 8  # one slot in 2**8

_SPREAD: Final = 0x9E3779B1  # the golden ratio in 32 bits: its multiples fall evenly everywhere
_WORD: Final = 0xFFFFFFFF


def level_of(slot: int, first_slot: int) -> int:
    """One slot in 2**level is noted this long after a process's first step."""
    return min(max((slot - first_slot) // ALL_SLOTS, 0).bit_length(), SPARSEST)


def is_noted(slot: int, first_slot: int) -> bool:
    """Whether steps that begin in this slot are noted by a process whose first step was in `first_slot`."""
    return (slot * _SPREAD & _WORD) >> (32 - level_of(slot, first_slot)) == 0
