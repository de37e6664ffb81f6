"""`memory-growth` speaks of memory that never rests, and not of what fills or jumps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rlprof.advise.report import complete_report
from rlprof.advise.rules.memory_growth import LIKE_A_TRANSITION
from rlprof.model.report import Finding
from support.courses import Run, always
from support.recordings import SECOND, START_NS

MB = 1_000_000
LOOP = {"env.step": always(1e-4), "policy.forward": always(3e-4), "learn.loss": always(4e-4)}
REPLAY = {**LOOP, "buffer.add": always(1e-5), "buffer.sample": always(1e-4)}
ROLLOUT = {**LOOP, "buffer.add": always(1e-5), "advantage": always(1e-5)}


def findings(size: Callable[[float], float], costs: dict[str, Callable[[float], float]] = LOOP) -> list[Finding]:
    builder = Run(costs).build()
    builder.memory([(at, round(size(at) * MB), -1) for at in np.arange(0.0, 22.0, 0.1).tolist()])
    return [finding for finding in complete_report(builder.build()).findings if finding.rule == "memory-growth"]


def leak(at: float) -> float:
    return 300.0 + 10.0 * max(at - 2.0, 0.0)


def test_a_leak_is_found_with_its_slope() -> None:
    (finding,) = findings(leak)
    assert finding.severity == "warning"
    assert finding.evidence["mb_per_minute_low"] <= 600 <= finding.evidence["mb_per_minute_high"] + 1e-6
    assert finding.evidence["bytes_per_env_step"] == pytest.approx(10e6 / 1250, rel=0.1)
    assert "item()" in finding.cure
    assert finding.gain.high == 1.0


def test_the_end_is_foretold_where_the_size_of_the_memory_is_known() -> None:
    builder = Run(LOOP).build()
    builder.memory([(at, round(leak(at) * MB), -1) for at in np.arange(0.0, 22.0, 0.1).tolist()])
    builder.facts = {**builder.facts, "memory_bytes": 6_500 * MB}
    (finding,) = complete_report(builder.build()).findings
    assert finding.evidence["minutes_until_memory_is_full"] == pytest.approx(10.0, rel=0.02)
    assert "this machine's memory is full" in finding.cure


def test_a_rollout_buffer_begins_anew_and_fills_nothing() -> None:
    assert len(findings(leak, ROLLOUT)) == 1


def test_a_filling_replay_buffer_is_no_leak() -> None:
    assert findings(leak, REPLAY) == []


def with_allocated(sizes: list[tuple[float, float]] | str) -> list[Finding]:
    """The leak above in a program whose allocations are known: (seconds since the start, MB)."""
    builder = Run(LOOP).build()
    builder.memory([(at, round(leak(at) * MB), -1) for at in np.arange(0.0, 22.0, 0.1).tolist()])
    rows = [[START_NS + round(at * SECOND), round(size * MB)] for at, size in sizes] if sizes != "damaged" else [["x"]]
    builder.facts = {**builder.facts, "allocated_bytes": rows}
    return [found for found in complete_report(builder.build()).findings if found.rule == "memory-growth"]


def test_an_array_that_was_made_at_the_start_and_fills_is_no_leak() -> None:
    assert with_allocated([(0.5, 3000.0), (2.0, 4000.0)]) == []
    assert with_allocated([(0.5, 3000.0), (2.0, 4000.0), (15.0, 4040.0)]) == []  # a thread was started


def test_memory_that_is_allocated_as_it_rises_is_a_leak() -> None:
    assert with_allocated([(float(at), 3000.0 + leak(at)) for at in range(22)])
    assert with_allocated([(0.0, 3000.0), (9.0, 3064.0), (14.0, 3128.0), (19.0, 3192.0)])  # arenas of 64 MB


def test_what_is_not_known_of_allocations_excuses_nothing() -> None:
    assert with_allocated([])
    assert with_allocated([(18.0, 3000.0)])
    assert with_allocated("damaged")


def test_what_may_be_a_transition_per_step_is_only_said() -> None:
    (finding,) = findings(lambda at: 300.0 + 2.0 * max(at - 2.0, 0.0))
    assert finding.severity == "info"


def test_a_rise_that_a_short_run_saw_little_of_is_only_said() -> None:
    """As steep as the leak above, but a run that ends after 45 MB does not tell whether it would have come to rest."""
    builder = Run(LOOP, slices=10).build()
    builder.memory([(at, round(leak(at) * MB), -1) for at in np.arange(0.0, 7.0, 0.05).tolist()])
    (finding,) = [found for found in complete_report(builder.build()).findings if found.rule == "memory-growth"]
    assert finding.evidence["bytes_per_env_step"] > LIKE_A_TRANSITION
    assert finding.severity == "info"


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(lambda at: 300.0, id="level"),
        pytest.param(lambda at: 300.0 + 0.5 * at, id="a little"),
        pytest.param(lambda at: 300.0 if at < 12 else 500.0, id="a jump"),
        pytest.param(lambda at: 300.0 + 60.0 * (at > 8) + 60.0 * (at > 11) + 60.0 * (at > 16), id="jumps"),
        pytest.param(lambda at: 300.0 + 200.0 * min(at / 12, 1.0), id="a pool that is full"),
        pytest.param(lambda at: 300.0 + 100.0 * np.sin(at), id="up and down"),
        pytest.param(lambda at: 500.0 - 10.0 * at, id="falling"),
    ],
)
def test_memory_that_rests_is_left_in_peace(size: Callable[[float], float]) -> None:
    assert findings(size) == []


def test_without_samples_nothing_is_said() -> None:
    assert [f for f in complete_report(Run(LOOP).build().build()).findings if f.rule == "memory-growth"] == []


def of(run: Run, size: Callable[[float], float]) -> list[Finding]:
    """Of a run of any length; `size` is by moment."""
    builder = run.build()
    last = run.startup + 0.5 * run.slices
    builder.memory([(at, round(size(at) * MB), -1) for at in np.arange(0.0, last, 0.1).tolist()])
    return [finding for finding in complete_report(builder.build()).findings if finding.rule == "memory-growth"]


def test_a_leak_of_two_seconds_is_enough_where_it_does_not_rest() -> None:
    quick = Run(LOOP, slices=6)
    assert of(quick, lambda at: 300.0 + 30.0 * max(at - 2.0, 0.0))
    assert of(quick, lambda at: 300.0 + 60.0 * (at > 3.2) + 60.0 * (at > 4.0)) == []
    assert of(Run(LOOP, slices=3), lambda at: 300.0 + 30.0 * max(at - 2.0, 0.0)) == []


def test_memory_that_rests_because_the_machine_does_is_still_a_leak() -> None:
    """From 10 s to 16 s somebody else has the machine: a hundredth of the steps, and of what is kept."""

    def busy(at: float) -> float:
        return 100.0 if 10.0 <= at < 16.0 else 1.0

    def kept(at: float) -> float:
        worked = min(at, 10.0) + 0.01 * min(max(at - 10.0, 0.0), 6.0) + max(at - 16.0, 0.0)
        return 300.0 + 10.0 * max(worked - 2.0, 0.0)

    assert of(Run(LOOP, machine=busy), kept)
