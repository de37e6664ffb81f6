"""The ledger closes, whatever the tree, the costs and the charges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.analyse.ledger import find_lane, gap_share, ledger_of, open_account
from rlprof.analyse.operations import operations_of
from rlprof.analyse.phases import phase_entries
from rlprof.analyse.report import build_report
from rlprof.model.kinds import KINDS
from rlprof.model.phases import PHASES
from rlprof.model.recording import SHARED_THREADS, Path
from support.recordings import RecordingBuilder, SpanSpec, a_child, a_recording, iteration, span

NAMES = st.sampled_from(["a", "b", "rollout", "env.step", "learn.loss"])


def _spans(children: st.SearchStrategy[SpanSpec] | None = None) -> st.SearchStrategy[SpanSpec]:
    return st.builds(
        lambda name, inside, count, own, phase, kind, charged, running, untimed: span(
            name,
            *inside,
            count=count,
            self_ns=own,
            phase=phase,
            kind=kind,
            charged_ns=min(charged, own),
            open_calls=running,
            untimed=untimed,
        ),
        NAMES,
        st.lists(children, max_size=4) if children is not None else st.just([]),
        st.integers(1, 100_000),
        st.integers(0, 2_000_000_000),
        st.sampled_from([None, "nonsense", *PHASES]),
        st.sampled_from(KINDS),
        st.integers(0, 50_000_000),
        st.integers(0, 1),
        st.sampled_from([0, 0, 1, 1000]),
    )


TREES = st.lists(st.recursive(_spans(), _spans, max_leaves=12), max_size=4)
COSTS = st.fixed_dictionaries(
    {kind: st.tuples(st.floats(0, 5_000), st.floats(0, 5_000), st.floats(0, 500)) for kind in KINDS}
)


@st.composite
def builders(draw: st.DrawFn) -> RecordingBuilder:
    trees = draw(TREES)
    spare = draw(st.integers(0, 3_000_000_000))
    builder = a_recording(seconds=(sum(tree.total_ns for tree in trees) + spare) / 1e9)
    for kind, (inside, outside, error) in draw(COSTS).items():
        builder.cost(kind, inside=inside, outside=outside, error=error)
    return builder.spans(*trees)


@given(builders())
def test_attributed_unattributed_and_overhead_add_up_to_the_wall_clock(builder: RecordingBuilder) -> None:
    ledger = ledger_of(open_account(builder.build_process()))
    parts = (ledger.attributed_seconds, ledger.unattributed_seconds, ledger.overhead_seconds)
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(ledger.wall_seconds, rel=1e-9, abs=1e-12)
    assert ledger.wall_seconds == pytest.approx(builder.seconds, abs=1e-8)


@given(builders())
def test_phases_add_up_to_the_attributed_time(builder: RecordingBuilder) -> None:
    account = open_account(builder.build_process())
    phases = phase_entries(account, env_steps=None)
    attributed = ledger_of(account).attributed_seconds
    assert sum(entry.seconds for entry in phases) == pytest.approx(attributed, rel=1e-9, abs=1e-12)


@given(builders())
def test_corrected_self_times_and_what_was_taken_add_up_to_the_measured_ones(builder: RecordingBuilder) -> None:
    process = builder.build_process()
    account = open_account(process)
    moved = any(stats.untimed for stats in process.stats.values())  # from one path to another
    whole = 0.0
    for identity, stats in process.stats.items():
        assert account.self_ns[identity] >= -1e-3
        both = account.self_ns[identity] + account.taken_ns[identity]
        assert moved or both == pytest.approx(stats.self_ns, abs=1e-3)
        whole += both
    assert whole == pytest.approx(sum(stats.self_ns for stats in process.stats.values()), rel=1e-9, abs=1e-3)


@given(builders())
def test_children_fit_into_their_parents(builder: RecordingBuilder) -> None:
    process = builder.build_process()
    named = {i: path if path.parent is None else replace(path, name=str(i)) for i, path in process.paths.items()}
    account = open_account(replace(process, paths=named))
    totals = {int(operation.path[-1]): operation.total_seconds for operation in operations_of(account)}
    for identity, total in totals.items():
        inside = sum(totals[child] for child in account.tree.children[identity])
        own = account.self_ns[identity] / 1e9
        assert inside + own == pytest.approx(total, rel=1e-9, abs=1e-8)


@given(builders())
def test_an_operations_durations_are_in_order(builder: RecordingBuilder) -> None:
    for operation in operations_of(open_account(builder.build_process())):
        assert operation.total_seconds >= operation.self_seconds >= 0
        if operation.min_seconds is not None and operation.max_seconds is not None:
            for middle in (operation.avg_seconds, operation.p50_seconds, operation.p99_seconds):
                assert middle is not None
                assert operation.min_seconds <= middle + 1e-9
                assert middle <= operation.max_seconds + 1e-9


def test_own_cost_is_taken_from_the_span_and_from_its_parent() -> None:
    builder = a_recording(seconds=1.0).cost(inside=100.0, outside=200.0, error=10.0)
    process = builder.spans(span("outer", span("inner", count=1000, self_seconds=0.2), count=10, self_seconds=0.5))
    account = open_account(process.build_process())
    by_name = {account.process.paths[i].name: account.self_ns[i] for i in account.tree.order}
    assert by_name["inner"] == 200_000_000 - 1000 * 100
    assert by_name["outer"] == 500_000_000 - 10 * 100 - 1000 * 200
    assert by_name[""] == 300_000_000 - 10 * 200
    ledger = ledger_of(account)
    assert ledger.overhead_seconds == pytest.approx((1010 * 300) / 1e9)
    assert ledger.overhead_error_seconds == pytest.approx(1010 * 10 / 1e9)


def test_a_cost_above_the_measured_time_leaves_zero_and_no_more_overhead_than_there_was_time() -> None:
    builder = a_recording(seconds=1.0).cost(inside=1000.0).spans(span("tiny", count=1000, self_ns=50_000))
    ledger = ledger_of(open_account(builder.build_process()))
    assert ledger.attributed_seconds == 0
    assert ledger.overhead_seconds == pytest.approx(50e-6)


def test_time_charged_to_helpers_is_overhead_and_half_of_it_is_uncertain() -> None:
    builder = a_recording(seconds=1.0).spans(span("work", self_seconds=0.5, charged_ns=40_000_000))
    ledger = ledger_of(open_account(builder.build_process()))
    assert ledger.overhead_seconds == pytest.approx(0.04)
    assert ledger.overhead_error_seconds == pytest.approx(0.02)


def test_time_of_an_iteration_outside_its_spans_is_unattributed() -> None:
    builder = a_recording(seconds=10.0).spans(iteration(span("env.step", self_seconds=6.0), self_seconds=3.0))
    ledger = ledger_of(open_account(builder.build_process()))
    assert ledger.attributed_seconds == pytest.approx(6.0)
    assert ledger.unattributed_seconds == pytest.approx(4.0)


def test_the_lane_is_the_thread_that_turns_iterations() -> None:
    builder = a_recording(seconds=10.0).spans(span("busy", self_seconds=9.0))
    builder.spans(iteration(span("env.step", self_seconds=1.0)), thread="trainer", lived=5.0)
    lane = find_lane(builder.build_process())
    assert lane is not None
    assert lane.name == "trainer"


def test_without_iterations_the_lane_is_the_thread_with_most_time_in_spans() -> None:
    builder = a_recording(seconds=10.0).spans(span("little", self_seconds=1.0))
    builder.spans(span("env.step", self_seconds=4.0), thread="actor", lived=5.0)
    lane = find_lane(builder.build_process())
    assert lane is not None
    assert lane.name == "actor"


def test_without_spans_the_lane_is_the_main_thread_and_all_time_is_unattributed() -> None:
    account = open_account(a_recording(seconds=3.0).spans().build_process())
    assert account.lane is not None
    assert account.lane.is_main
    assert ledger_of(account).unattributed_seconds == pytest.approx(3.0)


def test_time_before_the_lanes_thread_began_is_unattributed_and_no_gap() -> None:
    builder = a_recording(seconds=10.0).spans()
    builder.spans(span("env.step", self_seconds=4.0), thread="actor", lived=5.0)
    account = open_account(builder.build_process())
    assert ledger_of(account).unattributed_seconds == pytest.approx(6.0)
    assert gap_share(account) == 0


@pytest.mark.parametrize("gap_ns", [50_000_000, -50_000_000])
def test_self_times_that_miss_the_recorded_time_are_warned_of(gap_ns: int) -> None:
    builder = a_recording(seconds=10.0, gap_ns=gap_ns).spans(span("env.step", self_seconds=4.0))
    report = build_report(builder.build())
    assert "ledger-gap" in {warning.code for warning in report.warnings}
    ledger = report.ledger
    closed = ledger.attributed_seconds + ledger.unattributed_seconds + ledger.overhead_seconds
    assert closed == pytest.approx(ledger.wall_seconds)


def test_a_gap_below_a_thousandth_is_not_worth_a_warning() -> None:
    builder = a_recording(seconds=10.0, gap_ns=5_000_000).spans(span("env.step", self_seconds=4.0))
    assert "ledger-gap" not in {warning.code for warning in build_report(builder.build()).warnings}


def test_a_cycle_in_a_damaged_file_neither_hangs_nor_loses_time() -> None:
    process = a_recording(seconds=10.0).spans(span("a", span("b", self_seconds=2.0), self_seconds=3.0)).build_process()
    paths = dict(process.paths)
    paths[1], paths[2] = Path(1, 2, 0, "a", None, 0), Path(2, 1, 0, "b", None, 0)
    account = open_account(replace(process, paths=paths))
    assert ledger_of(account).attributed_seconds == pytest.approx(5.0)


def test_every_process_has_a_ledger_of_its_own_that_closes() -> None:
    child = a_child(seconds=4.0).spans(span("env.step", self_seconds=3.0))
    report = build_report(a_recording(seconds=10.0).spans(span("env.wait", self_seconds=8.0)).child(child).build())
    walls = [entry.ledger.wall_seconds for entry in report.run.processes]
    assert walls == pytest.approx([10.0, 4.0])
    for entry in report.run.processes:
        parts = sum(phase.seconds for phase in entry.phases) + entry.ledger.unattributed_seconds
        assert parts + entry.ledger.overhead_seconds == pytest.approx(entry.ledger.wall_seconds)


def test_the_tree_that_many_threads_share_is_never_the_ledger_s_clock() -> None:
    builder = a_recording(seconds=10.0).spans(span("env.step", self_seconds=1.0), lived=10.0)
    builder.spans(span("work", self_seconds=500.0), thread=SHARED_THREADS)
    lane = find_lane(builder.build().main)
    assert lane is not None
    assert lane.is_main
