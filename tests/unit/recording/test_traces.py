"""Tying the clock of a torch trace to the recording's."""

from __future__ import annotations

from rlprof.recording.traces import CLOCK, _clock


def test_marks_that_something_interrupted_say_nothing_about_the_clock() -> None:
    events = [({"name": f"{CLOCK}{number}"}, 1000 * number, 10) for number in range(3)]
    assert _clock(events, [500, -1, 2600]) == [(0, 500), (2000, 600)]


def test_ranges_of_other_names_and_numbers_are_no_marks() -> None:
    events = [({"name": "forward"}, 10, 5), ({"name": f"{CLOCK}x"}, 20, 5), ({"name": f"{CLOCK}7"}, 30, 5)]
    assert _clock(events, [100]) == []
