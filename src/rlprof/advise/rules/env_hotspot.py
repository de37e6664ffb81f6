"""`env-hotspot`: a line, or a loop in one function, holds most of what an environment's step takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import evidence_of, main_operations, named, own_lines, part_named, places, together
from rlprof.advise.remedies import ARRAYS, LOOP, is_plain, known_remedy
from rlprof.advise.steps import step_calls
from rlprof.analyse.inner_loops import InnerLoops
from rlprof.analyse.ledger import open_account
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.stacks import shares_of_functions
from rlprof.model.recording import Recording
from rlprof.model.report import Drilldown, Finding, LineEntry, Report, Severity
from rlprof.model.units import format_duration, format_percent

RULE: Final = "env-hotspot"
ENV_STEP: Final = "env.step"
FEWEST_SAMPLES: Final = 30
#: What a line must hold of env.step, the low end of its interval, for a library's work that has a known cure.
SMALLEST_LINE: Final = 0.25
#: What such a call makes is freed on other lines, and drives other things out of the caches: so much of env.step.
MADE_AND_FREED: Final = 0.1
#: A processor that has waited finds its caches cold and its clock low: so much of the rest of the run may be due to it.
#: Without waits of 1 ms, all else in A2C took a third less.
COLD_START: Final = 0.25
#: What a function must hold of it with its own lines, which take this much in each env step.
SMALLEST_FUNCTION: Final = 0.5
SMALLEST_STEP_SECONDS: Final = 100e-6
#: A loop of Python is seen on several lines, though only on those that call or jump back: on three, or on two that both
#: take a good part. One line alone may be a call of a simulator in C.
FEWEST_LINES: Final = 3
SMALLEST_IN_FUNCTION: Final = 0.02
SMALLEST_OF_TWO: Final = 0.10
#: A function that nearly all stacks have in common is the environment's step itself. All that an environment does may
#: stand there: only a loop that takes this much of each env step is worth a word.
ENTRY_SHARE: Final = 0.97
SMALLEST_ENTRY_SECONDS: Final = 300e-6
#: A function that does all there is to do in a step is the simulator. Of many environments, running them side by side
#: is the surer cure: then it is worth a word only.
WHOLE_STEP: Final = 0.85
#: A line in a loop of its function calls into an array library for most of its time, and as much of that as this is
#: Python: the line's own, or that of a second function of the library. Then the arrays are small.
SMALLEST_OVERHEAD: Final = 0.15
#: A single line is worth a word, though nobody can say whether it could be faster, from this share on.
SMALLEST_UNKNOWN: Final = 0.5

_REAL_TIME: Final = (
    "it waits for time to pass, as for somebody who watches: switch real time off while training (a flag of the "
    "simulator, `render_mode=None`, no limit of frames a second); where real hardware sets the pace, learn meanwhile"
)
_UNKNOWN: Final = "see whether it can be computed once, for all environments at a time, or less often"


@dataclass(frozen=True, slots=True)
class _Spot:
    lines: list[LineEntry]
    what: str
    remedy: str
    elsewhere: float  # seconds that it may cost on other lines
    at_most: Severity  # only a word where there is no evidence that it could be faster


def env_hotspot(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when most of env.step is one spot; loudly only where the samples say why that spot is slow."""
    part = part_named(report, ENV_STEP)
    if part is None or part.samples < FEWEST_SAMPLES:
        return
    spot = (
        _library_call(part)
        or _pause(recording, report, part)
        or _loop(recording, report, part)
        or _small_arrays(recording, report, part)
        or _single_line(part)
    )
    if spot is None:
        return
    seconds, least, high = together(part, spot.lines)
    most = high + spot.elsewhere
    share = seconds / part.seconds
    yield from Claim(
        RULE,
        f"{spot.what} takes {format_percent(share)} of env.step ({format_duration(seconds)})",
        Saving(0.0, most),
        places(spot.lines),
        f"{named(spot.lines[0])}: {spot.remedy}",
        {
            "phases": [ENV_STEP],
            "env_step_seconds": part.seconds,
            "spot_seconds": seconds,
            "spot_low_seconds": least,
            "spot_high_seconds": most,
            "share_of_env_step": share,
            "share_of_training": seconds / max(training_seconds(report), 1e-9),
            "seconds_per_env_step": _per_step(report, seconds),
            "samples": part.samples,
            "lines": evidence_of(spot.lines),
        },
        at_most=spot.at_most,
    ).findings(report)


def _library_call(part: Drilldown) -> _Spot | None:
    for line in own_lines(part):
        if line.low_seconds < SMALLEST_LINE * part.seconds:
            continue
        remedy = known_remedy(line)
        if remedy is not None:
            return _Spot(
                [line],
                f"{line.calling[0].function}() at line {line.line}",
                remedy,
                min(MADE_AND_FREED * part.seconds, max(part.seconds - line.high_seconds, 0.0)),
                "critical",
            )
    return None


def _pause(recording: Recording, report: Report, part: Drilldown) -> _Spot | None:
    pauses = NotedLines(recording, "pauses")
    for line in own_lines(part):
        if line.low_seconds >= SMALLEST_LINE * part.seconds and pauses.has(line.file, line.line):
            elsewhere = COLD_START * max(training_seconds(report) - line.seconds, 0.0)
            return _Spot([line], f"waiting at line {line.line}", _REAL_TIME, elsewhere, "critical")
    return None


class _Length:
    """Says whether a function takes long enough in each env step; the environment's step itself may take longer."""

    def __init__(self, recording: Recording, report: Report) -> None:
        self._shares = shares_of_functions(open_account(recording.main), ENV_STEP)
        self._report = report

    def of(self, line: LineEntry, seconds: float) -> bool:
        per_step = _per_step(self._report, seconds)
        is_entry = self._shares.get((line.file, line.function), 0.0) >= ENTRY_SHARE
        return per_step is not None and per_step >= (SMALLEST_ENTRY_SECONDS if is_entry else SMALLEST_STEP_SECONDS)


def _loop(recording: Recording, report: Report, part: Drilldown) -> _Spot | None:
    takes_long = _Length(recording, report)
    if not InnerLoops(recording).may_be_in(ENV_STEP):
        return None  # several lines that take long, one after the other
    for lines in _functions(part):
        file, function = lines[0].file, lines[0].function
        seconds, least, _ = together(part, lines)
        if least >= SMALLEST_FUNCTION * part.seconds and takes_long.of(lines[0], seconds) and _is_loop(lines, seconds):
            whole = [line for line in own_lines(part) if (line.file, line.function) == (file, function)]
            return _Spot(whole, f"the loop in {function}", LOOP, 0.0, _unless_simulator(report, part, whole))
    return None


def _small_arrays(recording: Recording, report: Report, part: Drilldown) -> _Spot | None:
    """A line in a loop that asks NumPy or torch about an element or a corner at a time."""
    loops, takes_long = InnerLoops(recording), _Length(recording, report)
    for line in own_lines(part):
        if line.low_seconds < SMALLEST_FUNCTION * part.seconds or not takes_long.of(line, line.seconds):
            continue
        inside = [call.seconds for call in line.calling if ARRAYS.search(call.file)]
        overhead = line.seconds - sum(call.seconds for call in line.calling) + sum(sorted(inside)[:-1])
        small = 2 * sum(inside) > line.seconds and overhead >= SMALLEST_OVERHEAD * line.seconds
        if small and loops.innermost(line.file, line.line) is not None:
            at_most = _unless_simulator(report, part, [line])
            return _Spot([line], f"the loop in {line.function}", LOOP, 0.0, at_most)
    return None


def _is_loop(lines: list[LineEntry], seconds: float) -> bool:
    parts = sorted((line.seconds / seconds for line in lines if line.samples > 1), reverse=True)
    several = sum(part >= SMALLEST_IN_FUNCTION for part in parts) >= FEWEST_LINES
    return several or (len(parts) > 1 and parts[1] >= SMALLEST_OF_TWO)


def _functions(part: Drilldown) -> list[list[LineEntry]]:
    """The lines of each function that run in it and not in a library, the function with the most time first."""
    groups: dict[tuple[str, str], list[LineEntry]] = {}
    for line in own_lines(part):
        if is_plain(line):
            groups.setdefault((line.file, line.function), []).append(line)
    return sorted(groups.values(), key=lambda lines: -sum(line.seconds for line in lines))


def _single_line(part: Drilldown) -> _Spot | None:
    for line in own_lines(part):
        if line.seconds > ENTRY_SHARE * part.seconds:
            return None  # the environment consists of nothing else
        if line.low_seconds >= SMALLEST_UNKNOWN * part.seconds and is_plain(line):
            return _Spot([line], f"line {line.line} in {line.function}", _UNKNOWN, 0.0, "info")
    return None


def _unless_simulator(report: Report, part: Drilldown, lines: list[LineEntry]) -> Severity:
    """A word only where the lines are all that several environments do, each in a call of its own."""
    share = sum(line.seconds for line in lines) / part.seconds
    return "info" if share >= WHOLE_STEP and _steps_one_by_one(report) else "critical"


def _steps_one_by_one(report: Report) -> bool:
    """Whether a step of a vector calls the steps of single environments: these could be called in other processes."""
    inner = (entry.calls for entry in main_operations(report) if ENV_STEP in entry.path[:-1])
    whole = step_calls(report)
    return whole > 0 and max(inner, default=0) >= 2 * whole


def _per_step(report: Report, seconds: float) -> float | None:
    steps = report.throughput.env_steps
    return seconds / steps if steps else None
