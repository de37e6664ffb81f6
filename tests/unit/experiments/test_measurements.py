"""What a run gives to a comparison: the warm part of its loop, per unit of work, window by window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlprof.experiments.batches import batches_of, compare_batches, paired
from rlprof.experiments.measurements import measure_run
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording, SpanCost, WindowTable
from support.recordings import SECOND, START_NS, RecordingBuilder, a_recording, iteration, span

Row = tuple[float, float, str, float]  # from second, to second, path's name ("" is the root), own seconds


def with_windows(builder: RecordingBuilder, rows: list[Row]) -> Recording:
    recording = builder.build()
    columns = [
        [START_NS + round(start * SECOND) for start, _, _, _ in rows],
        [START_NS + round(end * SECOND) for _, end, _, _ in rows],
        [builder.find(name) for _, _, name, _ in rows],
        [1] * len(rows),
        [round(own * SECOND) for _, _, _, own in rows],
        [round(own * SECOND) for _, _, _, own in rows],
        [0] * len(rows),
    ]
    table = WindowTable(*(np.array(column, np.int64) for column in columns))
    main = replace(recording.main, load=replace(recording.main.load, windows=lambda: table))
    return replace(recording, processes=(main,))


def a_run(first_second: float = 0.8) -> Recording:
    """Two seconds of imports, then ten in which 0.8 s of each are env.step; the first of them may be slow."""
    builder = a_recording(seconds=12.0)
    builder.spans(span("env.step", count=1000, self_seconds=8.0))
    steps = [(2.0, 3.0, 100.0 * 0.8 / first_second), *((float(at), at + 1.0, 100.0) for at in range(3, 12))]
    builder.counter_slices("env_steps", steps)
    rows = [(0.0, 1.0, "", 1.0), (1.0, 2.0, "", 1.0)]
    for at in range(2, 12):
        rows += [(float(at), at + 1.0, "env.step", 0.8), (float(at), at + 1.0, "", 0.2)]
    return with_windows(builder, rows)


def test_start_up_is_not_part_of_the_loop() -> None:
    found = measure_run(a_run())
    assert found.per == "env step"
    assert found.seconds == pytest.approx(0.01)
    assert found.phases == {"env.step": pytest.approx(0.008), "unattributed": pytest.approx(0.002)}
    assert found.sps == pytest.approx(100.0)


def test_the_first_part_of_the_loop_is_cut_off_at_a_windows_edge() -> None:
    assert measure_run(a_run(first_second=8.0)).seconds == pytest.approx(0.01)
    assert measure_run(a_run(first_second=8.0), warm_up=0.0).seconds > 0.0105
    assert measure_run(a_run()).amount == 900


def test_a_loop_within_one_window_is_measured_whole_and_what_is_around_it_left_out() -> None:
    builder = a_recording(seconds=2.0)
    builder.spans(iteration(span("env.step", count=10, self_seconds=0.1), count=2, self_seconds=0.02))
    builder.counter_slices("env_steps", [(0.0, 1.0, 10.0)]).iterations([0.06, 0.06], first=0.8)
    rows = [(0.0, 1.0, "env.step", 0.1), (0.0, 1.0, "iteration", 0.02), (0.0, 1.0, "", 0.88), (1.0, 2.0, "", 1.0)]
    found = measure_run(with_windows(builder, rows))
    assert found.amount == 10
    assert found.phases["env.step"] == pytest.approx(0.01)
    assert found.seconds == pytest.approx(0.012)


def test_rlprofs_own_cost_is_not_the_programs() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(span("env.step", count=1_000_000, self_seconds=10.0))
    builder.costs[0] = SpanCost(1000.0, 0.0, 0.0)  # a second in all
    builder.counter_slices("env_steps", [(float(at), at + 1.0, 100.0) for at in range(10)])
    found = measure_run(with_windows(builder, [(float(at), at + 1.0, "env.step", 1.0) for at in range(10)]))
    assert found.seconds == pytest.approx(0.009)


def test_without_env_steps_iterations_are_the_unit() -> None:
    builder = a_recording(seconds=10.0)
    builder.spans(iteration(count=20, self_seconds=10.0)).iterations([0.5] * 20)
    found = measure_run(with_windows(builder, [(float(at), at + 1.0, "iteration", 1.0) for at in range(10)]))
    assert (found.per, found.amount) == ("iteration", 18)
    assert found.seconds == pytest.approx(0.5)
    assert found.sps is None


def test_without_either_the_whole_run_is() -> None:
    builder = a_recording(seconds=10.0).spans(span("learn.loss", count=3, self_seconds=4.0))
    found = measure_run(builder.build())
    assert (found.per, found.amount, found.seconds) == ("run", 1.0, pytest.approx(10.0))


# --- batches ----------------------------------------------------------------------------------------------------------


def alternating(order: str, counted: bool = True) -> Recording:
    """A batch per letter, a second each; in those of b the update takes twice as long."""
    builder = a_recording(seconds=float(len(order)), facts={"alternate": {"turbo": ["False", "True"]}})
    builder.spans(span("learn.loss", count=len(order), self_seconds=0.8 * len(order)))
    for variant, letter in enumerate("ab"):
        begins = [at for at, found in enumerate(order) if found == letter]
        builder.counter_slices(f"alternate:turbo:{variant}", [(float(at), at + 1.0, 1.0) for at in begins])
    turns = [(float(at), at + 1.0, 50.0 if letter == "b" else 100.0) for at, letter in enumerate(order)]
    builder.counter_slices("alternate:turbo:turns", turns)
    if counted:
        builder.counter_slices("env_steps", [(start, end, 8 * amount) for start, end, amount in turns])
    rows: list[Row] = [(float(at), at + 1.0, "learn.loss", 0.8) for at in range(len(order))]
    rows += [(float(at), at + 1.0, "", 0.2) for at in range(len(order))]
    return with_windows(builder, sorted(rows))


@pytest.mark.parametrize("counted", [True, False])
def test_pairs_of_batches_are_compared_per_unit_of_work(counted: bool) -> None:
    found = compare_batches(alternating("abba" + "abbabaab" * 2 + "a", counted), "turbo", 0.03)
    assert (found.pairs, found.unit, found.per) == (8, "batch", "env step" if counted else "iteration")
    assert found.overall.verdict == "slower"
    assert found.overall.ratio == pytest.approx(0.5)
    assert found.candidate.name == "turbo = True"
    assert found.memory is None


def test_the_first_four_batches_and_one_without_an_end_are_left_out() -> None:
    batches = batches_of(alternating("abbaab").main, "turbo")
    assert [batch.variant for batch in batches] == [0, 1, 1, 0, 0]
    assert paired(batches) == []
    assert len(paired(batches_of(alternating("abbaabb").main, "turbo"))) == 1


def test_a_name_that_never_alternated_is_refused() -> None:
    with pytest.raises(BadOption, match="it alternated turbo"):
        compare_batches(alternating("abba"), "speed", 0.03)
    with pytest.raises(BadOption, match="it called no rlprof"):
        compare_batches(a_run(), "speed", 0.03)
