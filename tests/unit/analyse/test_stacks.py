"""What sampled stacks have in common: functions, lines, and the line that all of them go through."""

from __future__ import annotations

import pytest

from rlprof.analyse.ledger import Account, open_account
from rlprof.analyse.places import Spot
from rlprof.analyse.stacks import shares_of_functions, spots_below, spots_with, waist
from support.advice import ENV, MAIN, MODULE, STEP, TRAIN, env, train
from support.recordings import a_recording, span


def account() -> Account:
    builder = a_recording(seconds=10.0).spans(
        span("env.step", span("physics", self_seconds=3.0), count=10, self_seconds=3.0),
        span("forward", count=10, self_seconds=3.0, phase="policy.forward"),
    )
    builder.sample("env.step", 6, MAIN, STEP).sample("physics", 2, MAIN, STEP, env(70, "World.move"))
    builder.sample("forward", 5, train(12), MODULE, train(3, "Policy.forward"))
    builder.sample("forward", 4, train(12), MODULE).sample("forward", 1, train(40))
    return open_account(builder.build().main)


def test_functions_are_shared_by_all_stacks_they_are_anywhere_on() -> None:
    shares = shares_of_functions(account(), "env.step")
    assert shares[ENV, "World.step"] == pytest.approx(1.0)
    assert shares[ENV, "World.move"] == pytest.approx(0.25)
    assert shares_of_functions(account(), "env.reset") == {}


def test_the_waist_is_the_innermost_line_before_a_library_that_nearly_all_stacks_go_through() -> None:
    found = waist(account(), "policy.forward")
    assert found is not None
    assert (found.file, found.line) == (TRAIN, 12)
    assert waist(account(), "log") is None


def test_stacks_that_share_a_function_and_no_line_lead_to_the_line_most_of_them_share() -> None:
    found = waist(account(), "policy.forward", share=0.95)  # one of ten goes through line 40
    assert found is not None
    assert (found.function, found.line) == ("main", 12)


def test_lines_are_found_by_what_ran_below_them_and_by_the_span_they_ran_in() -> None:
    with_module = spots_with(account(), "policy.forward", lambda frame: frame.file == MODULE.file)
    assert with_module == {Spot(TRAIN, 3, "Policy.forward"): 5, Spot(TRAIN, 12, "main"): 4}
    assert spots_below(account(), [("env.step", "physics")]) == {Spot(ENV, 70, "World.move"): 2}
