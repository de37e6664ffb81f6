"""How far a recording can carry findings: each doubt is a warning with a remedy, and may hold findings back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Final

from rlprof.advise.bounds import most_saved, training_seconds
from rlprof.advise.rule import Rule
from rlprof.analyse.core_use import core_use_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report, ReportWarning
from rlprof.model.units import format_duration, format_percent, format_rate, three_digits

HELD_BACK: Final = "held-back"
SHORT: Final = "short-run"
FEW_ITERATIONS: Final = "few-iterations"
WARM_UP: Final = "warm-up"
DRIFT: Final = "drift"
BUSY_MACHINE: Final = "machine-busy"
STARVED: Final = "no-core"
THROTTLED: Final = "cpu-throttled"

#: With less training than this no finding stands; with less than the second figure it is said that it was short.
SHORTEST_SECONDS: Final = 1.0
SHORT_SECONDS: Final = 2.0
#: Fewer turns of the loop than this may lack what comes only now and then.
FEWEST_ITERATIONS: Final = 3
#: The first iteration is warm-up if it took so many times the median, and this much of the training.
WARM_UP_TIMES: Final = 2.0
WARM_UP_SHARE: Final = 0.2
#: The rate of the last third against that of the first, in windows of a second.
DRIFT_RATIO: Final = 1.5
FEWEST_WINDOWS: Final = 12
#: Cores that others kept busy, as a share of those that the run may use.
BUSY_SHARE: Final = 0.25
#: A main thread that was ready and had no core for so much of the run: what changed in its course may be others' work.
STARVED_SHARE: Final = 0.6
#: Time in which a control group's quota held processes up, summed over cores, as a share of the run.
THROTTLED_SHARE: Final = 0.05
#: What a cure can save must be so many times the error of rlprof's own cost.
TIMES_ERROR: Final = 1.0

Check = Callable[[Recording, Report], Iterator[ReportWarning]]


def doubts_about(recording: Recording, report: Report) -> tuple[ReportWarning, ...]:
    """What speaks against relying on this recording, the gravest first. A recording without spans has its own word."""
    if not report.phases:
        return ()
    return tuple(doubt for check in CHECKS for doubt in check(recording, report))


def hold_back(
    findings: Sequence[Finding], doubts: Sequence[ReportWarning], report: Report, rules: Sequence[Rule]
) -> tuple[tuple[Finding, ...], tuple[ReportWarning, ...]]:
    """The findings that the recording supports, and a warning for each that it does not."""
    sensitive = {rule.name: rule.doubted_by for rule in rules}
    kept, held = [], []
    for finding in findings:
        reason = _reason(finding, doubts, report, sensitive.get(finding.rule, frozenset()))
        if reason is None:
            kept.append(finding)
        else:
            message = f"`{finding.rule}` has a finding that is not shown ({finding.title}): {reason[0]}"
            held.append(ReportWarning(HELD_BACK, message, reason[1]))
    return tuple(kept), tuple(held)


def _reason(
    finding: Finding, doubts: Sequence[ReportWarning], report: Report, sensitive: frozenset[str]
) -> tuple[str, str] | None:
    """Why a finding does not stand, and what would let it; None where it does."""
    training = training_seconds(report)
    if training < SHORTEST_SECONDS:
        return f"there are only {format_duration(training)} of training to judge by", "record at least a few seconds"
    for doubt in doubts:
        if doubt.code in sensitive:
            return doubt.message, doubt.remedy
    error = report.ledger.overhead_error_seconds
    saved = most_saved(report, finding.gain)
    if 0 < saved < TIMES_ERROR * error:  # what saves no time, but memory, is not judged by time
        own = (
            f"rlprof's own cost is known to {format_duration(error)} only, and the cure saves {format_duration(saved)}"
        )
        return f"{own} at most", "record with fewer spans or a smaller --budget"
    return None


def _short_run(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    training = training_seconds(report)
    if training < SHORT_SECONDS:
        yield ReportWarning(
            SHORT,
            f"only {format_duration(training)} of training was recorded: a long run can have quite other shares",
            "record more of it; half a minute is enough for most programs",
        )


def _few_iterations(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    turns = report.throughput.iterations
    if turns is not None and 0 < turns < FEWEST_ITERATIONS:
        yield ReportWarning(
            FEW_ITERATIONS,
            f"the training loop turned only {turns} time{'s' if turns > 1 else ''}: what comes now and then (updates, "
            "evaluations, checkpoints) may be missing or weigh too much",
            f"record at least {FEWEST_ITERATIONS} iterations",
        )


def _warm_up(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    durations = (recording.main.iterations.duration_ns / 1e9).tolist()
    training = training_seconds(report)
    if len(durations) < FEWEST_ITERATIONS or training <= 0:
        return
    first, usual = durations[0], median(durations[1:])
    if first > WARM_UP_TIMES * usual and first - usual > WARM_UP_SHARE * training:
        yield ReportWarning(
            WARM_UP,
            f"the first iteration took {format_duration(first)}, the others {format_duration(usual)}: warm-up is "
            f"{format_percent((first - usual) / training)} of the time that shares are of",
            "record longer, so that it weighs less",
        )


def _drift(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    """Leaves out what lies before the first step and the last window, which is seldom a whole one."""
    rates = [window.sps for window in report.throughput.windows[:-1]]
    begun = next((index for index, rate in enumerate(rates) if rate > 0), len(rates))
    steady = rates[begun + 1 :]
    if len(steady) < FEWEST_WINDOWS:
        return
    third = len(steady) // 3
    early, late = (sum(part) / third for part in (steady[:third], steady[-third:]))
    if min(early, late) > 0 and max(early, late) > DRIFT_RATIO * min(early, late):
        word = "fell" if late < early else "rose"
        yield ReportWarning(
            DRIFT,
            f"the rate {word} from {format_rate(early)} in the first third to {format_rate(late)} in the last: shares "
            "are means over a run that changed",
            "look when it changed (throughput over time), and record the part that the rest of the run is like",
        )


def _busy_machine(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    use = core_use_of(recording)
    if use is None or use.others is None or use.others <= BUSY_SHARE * use.cores:
        return
    waited = use.main_wait_share
    beside = f", and the main thread waited {format_percent(waited)} of the time for one" if waited is not None else ""
    yield ReportWarning(
        BUSY_MACHINE,
        f"others kept {three_digits(use.others)} of the {use.cores:g} cores busy during the run{beside}: times are "
        "longer than the program needs, and cores that a cure counts on may not be free",
        "record again while nothing else runs",
    )


def _starved(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    use = core_use_of(recording)
    if use is None or use.main_wait_share is None or use.main_wait_share <= STARVED_SHARE:
        return
    yield ReportWarning(
        STARVED,
        f"the main thread was ready and had no core for {format_percent(use.main_wait_share)} of the time: what got "
        "slower in the course of the run may be what others did meanwhile",
        "record again while nothing else runs",
    )


def _throttled(recording: Recording, report: Report) -> Iterator[ReportWarning]:
    use = core_use_of(recording)
    if use is None or use.quota is None or (use.throttled_seconds or 0.0) <= THROTTLED_SHARE * use.seconds:
        return
    yield ReportWarning(
        THROTTLED,
        f"a quota of {use.quota:g} cores held the run's processes up for {format_duration(use.throttled_seconds)} in "
        f"all, within {format_duration(use.seconds)}: pauses of this kind can be in any phase",
        f"let workers and threads together need no more than {use.quota:g} cores, or ask for a larger quota",
    )


CHECKS: Final[tuple[Check, ...]] = (_short_run, _few_iterations, _warm_up, _drift, _busy_machine, _starved, _throttled)
