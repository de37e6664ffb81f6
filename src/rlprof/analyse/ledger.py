"""Where the wall clock of a process went, with rlprof's own cost taken out and shown.

The ledger is about one thread, the lane: attributed + unattributed + overhead = wall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.analyse.storing import with_whole_statements
from rlprof.analyse.thinned import estimate_untimed
from rlprof.analyse.tree import SpanTree, grow_tree, is_root, phases_of
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import SHARED_THREADS, Process, SampleTable, SpanCost, Thread
from rlprof.model.report import Ledger

NS_PER_SECOND: Final = 1e9

#: How far the self times of the lane may be from the recorded time before the report says so.
GAP_TOLERANCE: Final = 1e-3

_FREE: Final = SpanCost(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Account:
    """One process's paths with their times corrected. `taken_ns` is what the correction took off each path."""

    process: Process
    tree: SpanTree
    phases: Mapping[int, str]
    self_ns: Mapping[int, float]
    calls: Mapping[int, float]  # by how much more often a path was called than its spans say; see analyse.thinned
    times: Mapping[int, float]  # and by how much longer it took
    taken_ns: Mapping[int, float]
    lane: Thread | None
    lane_paths: tuple[int, ...]
    lane_raw_ns: int
    wall_ns: int
    moved_samples: SampleTable | None  # where time was moved by samples, those with it; see analyse.storing

    @property
    def samples(self) -> SampleTable:
        return self.process.samples if self.moved_samples is None else self.moved_samples

    @property
    def wall_seconds(self) -> float:
        return self.wall_ns / NS_PER_SECOND


def open_account(process: Process) -> Account:
    """Correct every path of a process and find the thread its ledger is about."""
    tree = grow_tree(process)
    nominal = nominal_cost(process, tree)
    raw = {identity: _self_ns(process, identity) for identity in tree.order}
    # A calibrated cost can exceed a short span's time. What is clamped away here is not in `taken` either, so that
    # self times and overhead still add up to what the clock said.
    taken = {identity: min(nominal[identity], float(raw[identity])) for identity in tree.order}
    lane = find_lane(process)
    lane_paths = tuple(i for i in tree.order if lane is not None and process.paths[i].thread == lane.id)
    lane_raw = sum(raw[identity] for identity in lane_paths)
    estimate = estimate_untimed(process, tree, {identity: raw[identity] - taken[identity] for identity in tree.order})
    phases = phases_of(process, tree)
    samples, self_ns = with_whole_statements(process, tree, phases, estimate.self_ns)
    return Account(
        process=process,
        tree=tree,
        phases=phases,
        self_ns=self_ns,
        calls=estimate.calls,
        times=estimate.times,
        taken_ns=taken,
        lane=lane,
        lane_paths=lane_paths,
        lane_raw_ns=lane_raw,
        # More self time than recorded time would be a fault of the recording: it is warned of, and not cut off.
        wall_ns=max(process.recorded_ns, lane_raw, 0),
        moved_samples=samples,
    )


def nominal_cost(process: Process, tree: SpanTree) -> dict[int, float]:
    """rlprof's cost inside each path's self time: helpers, its own spans' inside, its children's outside."""
    nominal: dict[int, float] = {}
    for identity in tree.order:
        stats = process.stats.get(identity)
        path = process.paths[identity]
        own = 0.0 if stats is None or is_root(path) else stats.timed * cost_of(process, path.kind).inside_ns
        nominal[identity] = own + (stats.charged_ns if stats is not None else 0)
    for identity, above in tree.parent.items():
        stats = process.stats.get(identity)
        if above is not None and stats is not None:
            nominal[above] += stats.timed * cost_of(process, process.paths[identity].kind).outside_ns
    return nominal


def cost_of(process: Process, kind: int) -> SpanCost:
    """The calibrated cost of a kind; a kind that was never calibrated is not corrected for."""
    return process.costs.get(kind, _FREE)


def _self_ns(process: Process, identity: int) -> int:
    stats = process.stats.get(identity)
    return max(stats.self_ns, 0) if stats is not None else 0


def find_lane(process: Process) -> Thread | None:
    """The thread that trains: the one that turns iterations, else the busiest in spans, else the main one."""
    threads = {thread.id: thread for thread in process.threads if thread.name != SHARED_THREADS}
    if process.iteration_thread is not None and process.iteration_thread in threads:
        return threads[process.iteration_thread]
    busy: dict[int, int] = {}
    for path in process.paths.values():
        if not is_root(path) and path.thread in threads:
            busy[path.thread] = busy.get(path.thread, 0) + _self_ns(process, path.id)
    if busy and max(busy.values()) > 0:
        return threads[max(busy, key=lambda identity: busy[identity])]
    main = [thread for thread in process.threads if thread.is_main]
    return next(iter(main or process.threads), None)


def ledger_of(account: Account) -> Ledger:
    """The wall clock of the process, split so that nothing is left over."""
    attributed = sum(account.self_ns[i] for i in account.lane_paths if account.phases[i] != UNATTRIBUTED)
    overhead = sum(account.taken_ns[i] for i in account.lane_paths)
    return Ledger(
        wall_seconds=account.wall_ns / NS_PER_SECOND,
        attributed_seconds=attributed / NS_PER_SECOND,
        unattributed_seconds=unattributed_ns(account) / NS_PER_SECOND,
        overhead_seconds=overhead / NS_PER_SECOND,
        overhead_error_seconds=overhead_error_ns(account) / NS_PER_SECOND,
    )


def unattributed_ns(account: Account) -> float:
    """Time of the lane outside every span that does work, and time in which the lane's thread did not live."""
    inside = sum(account.self_ns[i] for i in account.lane_paths if account.phases[i] == UNATTRIBUTED)
    return inside + (account.wall_ns - account.lane_raw_ns)


def overhead_error_ns(account: Account) -> float:
    """How far the overhead may be off, one way or the other."""
    process = account.process
    error = 0.0
    for identity in account.lane_paths:
        stats = process.stats.get(identity)
        if stats is not None:
            error += stats.timed * cost_of(process, process.paths[identity].kind).error_ns
            # A helper takes time from the span only if the span's thread wanted the interpreter lock just then:
            # the true share lies between none and all of what was charged.
            error += stats.charged_ns / 2
    return error


def gap_share(account: Account) -> float:
    """By how much of the recorded time the lane's self times miss it. A thread that came later misses nothing."""
    recorded = account.process.recorded_ns
    surplus = account.lane_raw_ns - recorded
    if not account.lane_paths or recorded <= 0:
        return 0.0
    if surplus < 0 and account.lane is not None and not account.lane.is_main:
        return 0.0
    return surplus / recorded
