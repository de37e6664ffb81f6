"""Which slots of time are noted: many at first, fewer later, and by everybody the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.noted_slots import ALL_SLOTS, SPARSEST, is_noted, level_of

SLOTS = st.integers(0, 2**40)


@given(first=SLOTS, age=st.integers(0, ALL_SLOTS - 1))
def test_every_slot_is_noted_at_first(first: int, age: int) -> None:
    assert is_noted(first + age, first)


@given(first=SLOTS, later=st.integers(0, 10**6), age=st.integers(0, 10**7))
def test_what_an_older_process_notes_a_younger_one_notes_too(first: int, later: int, age: int) -> None:
    slot = first + later + age
    assert is_noted(slot, first + later) or not is_noted(slot, first)


@pytest.mark.parametrize("first", [0, 12_345, 987_654_321])
@pytest.mark.parametrize("level", range(1, SPARSEST + 1))
def test_one_slot_in_two_to_the_level_is_noted(first: int, level: int) -> None:
    begin = first + ALL_SLOTS * 2 ** (level - 1)
    slots = range(begin, begin + max(ALL_SLOTS * 2 ** (level - 1), 1 << level))
    assert {level_of(slot, first) for slot in slots} == {level}
    noted = sum(is_noted(slot, first) for slot in slots)
    assert noted == pytest.approx(len(slots) / 2**level, abs=3)


def test_it_never_gets_sparser_than_that() -> None:
    assert level_of(10**12, 0) == SPARSEST
