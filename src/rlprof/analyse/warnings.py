"""How far the numbers can be trusted: each doubt is a value with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from rlprof.analyse.alternated import alternated
from rlprof.analyse.bottlenecks import SEPARATOR
from rlprof.analyse.ledger import GAP_TOLERANCE, NS_PER_SECOND, Account, cost_of, gap_share, ledger_of
from rlprof.analyse.own_code import spans_not_found
from rlprof.analyse.thinned import relative_error
from rlprof.analyse.torch_operators import windows_of
from rlprof.analyse.treatments import treatments_not_applied
from rlprof.analyse.tree import is_root, names_of, sum_beneath
from rlprof.model.losses import LOSSES
from rlprof.model.recording import Process, Recording
from rlprof.model.report import ReportWarning
from rlprof.model.units import format_count, format_duration, format_percent

HIGH_OVERHEAD: Final = 0.05
MOST_NAMED: Final = 5  # thinned operations; the rest is counted
#: Where fewer calls went untimed, "1 in 1" would be timed.
FEW_UNTIMED: Final = 0.1
#: The wall clock may drift from the monotonic one by this much before somebody must have set it.
CLOCK_TOLERANCE_SECONDS: Final = 1.0
#: Codes that begin like this are notes, not doubts; renderers show them last and quietly.
NOTE: Final = "note-"
#: Losses that come from how the program uses spans and counters, not from a lack of room.
_BY_PROGRAM: Final = frozenset({"spans_abandoned", "spans_folded", "exits_unmatched", "amounts_refused"})


def losses_of(recording: Recording) -> dict[str, int]:
    """What could not be kept, over all processes, by kind; kinds of which nothing was lost stay, at 0."""
    losses: dict[str, int] = {}
    for process in recording.processes:
        for kind, number in process.losses.items():
            losses[kind] = losses.get(kind, 0) + number
    return losses


def warnings_of(recording: Recording, accounts: Sequence[Account]) -> tuple[ReportWarning, ...]:
    """All doubts about a recording, each once, the gravest first."""
    found: dict[tuple[str, str], ReportWarning] = {}
    for check in CHECKS:
        for warning in check(recording, accounts):
            found.setdefault((warning.code, warning.message), warning)
    return tuple(found.values())


Check = Callable[[Recording, Sequence[Account]], Iterable[ReportWarning]]


def _recorded(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for warning in recording.warnings:
        yield ReportWarning(warning.code, warning.message, warning.remedy)
    for process in recording.processes:
        for warning in process.warnings:
            yield ReportWarning(warning.code, warning.message, warning.remedy)


def _unfinished_run(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    if recording.status == "running":
        yield ReportWarning(
            "still-running",
            "the run is still going, or its end was never written: the numbers reach to the last flush",
            "make the report again when the run has ended",
        )
    if recording.status == "killed":
        yield ReportWarning(
            "killed",
            "the run was killed: up to its last second is missing",
            "none needed for the numbers shown; look for what killed it (out of memory, a time limit) if unexpected",
        )


def _unfinished_processes(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    if recording.status == "running":
        return
    cut = [process for process in recording.processes[1:] if process.status in ("killed", "running")]
    if cut:
        pids = ", ".join(str(process.pid) for process in cut[:5]) + (", …" if len(cut) > 5 else "")
        noun = "child process" if len(recording.processes) == 2 else "child processes"
        yield ReportWarning(
            "unfinished-processes",
            f"{len(cut)} of {len(recording.processes) - 1} {noun} did not end their recording (pid {pids}): "
            "up to the last second of each is missing",
            "let workers end by themselves (close() and join()) instead of terminating them",
        )


def _nothing_recorded(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    if any(not is_root(path) for process in recording.processes for path in process.paths.values()):
        return
    yield ReportWarning(
        "no-spans",
        "no spans were recorded, so all time is unattributed",
        'mark the work: `with rlprof.profile("env_step", phase="env.step"):` around it, '
        '`rlprof.count("env_steps", n)` after it',
    )


def _losses(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    lost = {kind: number for kind, number in losses_of(recording).items() if number > 0}
    if lost:
        said = ", ".join(f"{format_count(number)} {LOSSES.get(kind, kind)}" for kind, number in lost.items())
        by_program = all(kind in _BY_PROGRAM for kind in lost)
        yield ReportWarning(
            "losses",
            f"not everything was kept as it was measured: {said}",
            "look at where the program opens and closes its spans and what it counts"
            if by_program
            else "free disk space, record fewer events (a shorter active part of --schedule), or fewer distinct spans",
        )


def _gaps(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for account in accounts:
        gap = gap_share(account)
        if abs(gap) > GAP_TOLERANCE:
            said = "more" if gap > 0 else "less"
            yield ReportWarning(
                "ledger-gap",
                f"process {account.process.pid}: its spans hold {format_percent(abs(gap))} {said} time than was "
                "recorded, so its ledger does not close by itself",
                "treat shares of this process as rough and report it as a fault of rlprof",
            )


def _overheads(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for account in accounts:
        ledger = ledger_of(account)
        if ledger.wall_seconds <= 0 or ledger.overhead_seconds <= HIGH_OVERHEAD * ledger.wall_seconds:
            continue
        yield ReportWarning(
            "overhead-high",
            f"rlprof itself took {format_percent(ledger.overhead_seconds / ledger.wall_seconds)} of process "
            f"{account.process.pid}'s time ({format_duration(ledger.overhead_seconds)}; taken out of all numbers, "
            f"give or take {format_duration(ledger.overhead_error_seconds)})",
            _overhead_remedy(account),
        )


def _overhead_remedy(account: Account) -> str:
    """Name what costs most: the helpers, or the span that is entered most often."""
    process = account.process
    charged = sum(process.stats[i].charged_ns for i in account.lane_paths if i in process.stats)
    cost = {identity: _span_cost_ns(process, identity) for identity in account.lane_paths}
    dearest = max(cost, key=lambda identity: cost[identity], default=None)
    if dearest is None or charged >= sum(cost.values()):
        return "lower the sampling rate (--sampler-hz) or leave out memory (--no-memory)"
    name = SEPARATOR.join(names_of(process, account.tree)[dearest])
    return (
        f"put one span around the loop instead of one inside it: `{name}` was entered "
        f"{format_count(process.stats[dearest].count)} times"
    )


def _span_cost_ns(process: Process, identity: int) -> float:
    stats, path = process.stats.get(identity), process.paths[identity]
    if stats is None or is_root(path):
        return 0.0
    cost = cost_of(process, path.kind)
    return stats.timed * (cost.inside_ns + cost.outside_ns)


def _thinned(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for account in accounts:
        process = account.process
        hot = [identity for identity, stats in process.stats.items() if stats.untimed and identity in account.self_ns]
        if not hot:
            continue
        names = names_of(process, account.tree)
        took = sum_beneath(account.tree, account.self_ns)
        hot.sort(key=lambda identity: took[identity], reverse=True)
        said = [_thinning(process, i, names[i][-1], took[i] / NS_PER_SECOND) for i in hot[:MOST_NAMED]]
        more = f" and {len(hot) - len(said)} more" if len(hot) > len(said) else ""
        yield ReportWarning(
            f"{NOTE}thinned",
            f"process {process.pid}: to keep rlprof's own cost small, some calls were counted and only part of them "
            f"timed: {', '.join(said)}{more}",
            "none needed for the ledger; a larger --budget times more of them",
        )


def _thinning(process: Process, identity: int, name: str, seconds: float) -> str:
    stats = process.stats[identity]
    error = format_duration(seconds * relative_error(process, identity))
    few = stats.untimed < FEW_UNTIMED * stats.count
    part = (
        f"all but {format_percent(stats.untimed / stats.count)}"
        if few
        else f"1 in {stats.count / max(stats.timed, 1):.3g}"
    )
    return f"`{name}` ({part}, {format_duration(seconds)} ± {error})"


def _alternated(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for name, values in alternated(recording.main).items():
        yield ReportWarning(
            f"{NOTE}alternated",
            f"the run took turns between {name} = {values[0]} and {name} = {values[1]}: its figures are of both",
            f"rlprof compare RECORDING --by {name} tells them apart",
        )


def _windows(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    for tool, found in groupby(sorted(windows_of(recording), key=lambda each: each.tool), key=lambda each: each.tool):
        windows = list(found)
        number = format_count(sum(window.iterations for window in windows))
        spent = format_duration(sum(window.seconds for window in windows))
        if all(window.apart for window in windows):
            yield ReportWarning(
                f"{NOTE}windows",
                f"{number} iterations ran under {tool} and took {spent} with it: they are in no figure of time or "
                "speed; memory that it took may stay until the end",
                "none needed; for figures of memory, record without it",
            )
        else:
            yield ReportWarning(
                "windows",
                f"{number} iterations ran under {tool} and could not be kept apart: {spent} are in all figures",
                "look for why the recording could not be written meanwhile, and record again",
            )


def _spans_not_found(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    yield from spans_not_found(recording)


def _not_treated(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    yield from treatments_not_applied(recording)


def _clock_jump(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    drifts = [process.facts.get("wall_drift_seconds") for process in recording.processes]
    largest = max((abs(drift) for drift in drifts if isinstance(drift, (int, float))), default=0.0)
    if largest > CLOCK_TOLERANCE_SECONDS:
        yield ReportWarning(
            "clock-jump",
            f"the wall clock was set by {format_duration(largest)} during the run",
            "none needed: durations come from the monotonic clock, only dates may be off",
        )


def _memory_without_device(recording: Recording, accounts: Sequence[Account]) -> Iterator[ReportWarning]:
    stats = [stats for process in recording.processes for stats in process.stats.values()]
    measured = any(entry.rss_rise_bytes is not None for entry in stats)
    if measured and all(entry.device_rise_bytes is None for entry in stats):
        yield ReportWarning(
            f"{NOTE}no-device",
            "no device memory was measured: its 15% of the bottleneck score went to the other parts",
            "none needed on a machine without a device",
        )


CHECKS: Final[tuple[Check, ...]] = (
    _unfinished_run,
    _nothing_recorded,
    _losses,
    _gaps,
    _overheads,
    _recorded,
    _spans_not_found,
    _not_treated,
    _thinned,
    _windows,
    _alternated,
    _unfinished_processes,
    _clock_jump,
    _memory_without_device,
)
