"""What one run, or one batch of it, gives to a comparison: times per unit of work, once the start-up is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.core_use import core_use_of
from rlprof.analyse.ledger import Account, ledger_of, open_account
from rlprof.analyse.memory import rss_peak_mb
from rlprof.analyse.phases import phase_entries
from rlprof.analyse.throughput import ENV_STEPS, counter_total, iterating_process
from rlprof.analyse.tree import is_root, names_of
from rlprof.experiments.stretches import Stretch, Timeline
from rlprof.model.comparison import Per
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Recording

#: The part of the training loop that is left out at its beginning.
WARM_UP_SHARE: Final = 0.10
#: A cut that would leave less than this share of the loop is not made.
_LEAST_KEPT: Final = 0.5

Path = tuple[str, ...]
#: The part of the loop that a path's own time belongs to, told by the path and its phase.
Grouping = Callable[[Path, str], str]


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds per unit of work (`per`), of the whole and of its parts, without rlprof's own cost."""

    per: Per
    amount: float
    seconds: float
    phases: Mapping[str, float]
    operations: Mapping[Path, float] = field(default_factory=dict)
    memory_mb: float | None = None
    other_load: float | None = None  # the share of the machine that others used meanwhile
    whole_amount: float | None = None  # of a run: its work from beginning to end, its warm-up included

    @property
    def sps(self) -> float | None:
        return 1 / self.seconds if self.per == "env step" and self.seconds > 0 else None


def measure_run(recording: Recording, warm_up: float = WARM_UP_SHARE) -> Measurement:
    """One run, from the end of its warm-up to the end of its loop."""
    recording = outside_windows(recording)
    account = open_account(recording.main)
    timeline = Timeline(account, recording)
    stretch = None if timeline.is_empty else loop_of(timeline, warm_up)
    found = (
        _whole_run(recording, account)
        if stretch is None
        else measure_stretch(account, timeline, stretch, rss_peak_mb(recording.main))
    )
    return replace(found, other_load=other_load_of(recording), whole_amount=_work_of(recording)[1])


def other_load_of(recording: Recording) -> float | None:
    """The share of the machine that others used while this was recorded; None where the system does not say."""
    use = core_use_of(recording)
    cores = recording.main.facts.get("cores")
    if use is None or use.others is None or not isinstance(cores, int) or cores <= 0:
        return None
    return min(use.others / cores, 1.0)


def loop_of(timeline: Timeline, warm_up: float) -> Stretch | None:
    """The training loop without its first part, in whole windows; None where nothing says where the loop is."""
    starts, ends = [], []
    if timeline.counts_steps:
        starts.append(int(timeline.steps.start_ns.min()))
        ends.append(int(timeline.steps.end_ns.max()))
    if len(timeline.turn_starts):
        starts.append(int(timeline.turn_starts.min()))
        ends.append(int(timeline.turn_ends.max()))
    if not starts:
        return None
    # Steps are known by the window, turns exactly: what lies further inside is nearer to the truth.
    start, end = max(starts), min(ends)
    if end <= start:
        return None
    cut = timeline.edge_at_or_after(start + int(warm_up * (end - start)))
    if cut is not None and end - cut >= _LEAST_KEPT * (end - start):
        start = cut
    return Stretch(timeline.edge_before(start), timeline.edge_at_or_after(end) or end, end - start)


def measure_stretch(
    account: Account,
    timeline: Timeline,
    stretch: Stretch,
    memory_mb: float | None,
    grouping: Grouping | None = None,
) -> Measurement:
    """What was done in a stretch, per env step, else per iteration, else as a whole; by phase, if not grouped else."""
    per: Per = "run"
    amount = 1.0
    if timeline.counts_steps:
        per, amount = "env step", timeline.steps_in(stretch)
    elif len(timeline.turn_starts):
        per, amount = "iteration", float(timeline.turns_in(stretch))
    if amount <= 0:
        return Measurement(per, 0.0, 0.0, {}, {}, memory_mb)
    names = names_of(account.process, account.tree)
    phases: dict[str, float] = {}
    operations: dict[Path, float] = {}
    for path, seconds in timeline.seconds_by_path(stretch).items():
        phase = account.phases[path]
        if grouping is not None:
            phase = grouping(names[path], phase)
        phases[phase] = phases.get(phase, 0.0) + seconds / amount
        if not is_root(account.process.paths[path]):
            operations[names[path]] = operations.get(names[path], 0.0) + seconds / amount
    return Measurement(per, amount, sum(phases.values()), phases, operations, memory_mb)


def _work_of(recording: Recording) -> tuple[Per, float]:
    """What all of a run amounts to: env steps, else iterations, else that it was one run."""
    steps = counter_total(recording, ENV_STEPS)
    turning = iterating_process(recording)
    if steps:
        return "env step", steps
    return ("run", 1.0) if turning is None else ("iteration", float(len(turning.iterations.start_ns)))


def _whole_run(recording: Recording, account: Account) -> Measurement:
    """All of the process, where there is no loop to be found or nothing is known by the window."""
    per, amount = _work_of(recording)
    ledger = ledger_of(account)
    phases = {entry.phase: entry.seconds / amount for entry in phase_entries(account, None)}
    phases[UNATTRIBUTED] = ledger.unattributed_seconds / amount
    names = names_of(account.process, account.tree)
    operations: dict[Path, float] = {}
    for path in account.lane_paths:
        if not is_root(account.process.paths[path]):
            seconds = account.self_ns[path] / 1e9 / amount
            operations[names[path]] = operations.get(names[path], 0.0) + seconds
    return Measurement(per, amount, sum(phases.values()), phases, operations, rss_peak_mb(recording.main))
