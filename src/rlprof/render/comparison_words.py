"""A comparison in sentences: the same on a terminal and in a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.model.comparison import Comparison, MemoryRow, Row, Verdict
from rlprof.model.units import ABSENT, format_duration, format_megabytes, format_percent, format_rate

WORDS: Final[dict[Verdict, str]] = {
    "faster": "faster",
    "slower": "slower",
    "same": "same",
    "cannot-tell": "cannot tell",
}
MEMORY_WORDS: Final[dict[Verdict, str]] = {**WORDS, "faster": "less", "slower": "more"}
ANYTHING: Final = "anything"
#: Sections that list things stop here.
MOST_LISTED: Final = 12
_INTERPRETER: Final = re.compile(r"(?<!\S)\S*[\\/]((?:python|pypy)[\d.]*(?:\.exe)?)(?=\s)")


def ratio(value: float | None) -> str:
    """More decimals the nearer to one, where they matter."""
    if value is None:
        return ABSENT
    if abs(value - 1) < 0.0995:
        return f"{value:.3f}x"
    return f"{value:.2f}x" if value < 9.995 else f"{value:,.0f}x"


def interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return ANYTHING if _says_nothing(low, high) else f"{ratio(low)} to {ratio(high)}"


def short_interval(low: float | None, high: float | None) -> str:
    """For narrow places."""
    if low is None or high is None:
        return ""
    return ANYTHING if _says_nothing(low, high) else f"{ratio(low)[:-1]}-{ratio(high)}"


def _says_nothing(low: float, high: float) -> bool:
    """Two or three pairs that differ leave room for a millionfold: digits would only look as if they said something."""
    return low < 0.01 or high >= 100


def headline(found: Comparison) -> str:
    """The verdict."""
    overall = found.overall
    if overall.verdict in ("faster", "slower"):
        likely = f"{interval(overall.low, overall.high)}, {certainty(found)} sure"
        return f"B is {overall.verdict}: {ratio(overall.ratio)} the speed of A ({likely})"
    if overall.verdict == "same":
        return f"No difference larger than {format_percent(overall.differs_at_most)} ({certainty(found)} sure)"
    return "Cannot tell"


def certainty(found: Comparison) -> str:
    return f"{found.overall.level * 100:.4g}%"


def explanation(found: Comparison) -> Iterator[str]:
    """What stands behind the verdict, sentence by sentence."""
    overall = found.overall
    if found.sps is not None:
        yield f"{format_rate(found.sps.baseline)} with A, {format_rate(found.sps.candidate)} with B."
    else:
        times = format_duration(overall.baseline_seconds), format_duration(overall.candidate_seconds)
        yield f"{times[0]} per {found.per} with A, {times[1]} with B."
    if overall.verdict != "cannot-tell":
        if found.stopped_early:
            yield "Stopped early: the answer was clear."
        return
    if overall.low is not None:
        fits = interval(overall.low, overall.high)
        said = "anything fits" if fits == ANYTHING else f"anything from {fits} fits"
        yield f"B ran at {ratio(overall.ratio)} the speed of A; {said}."
    if found.minimal_detectable is not None and found.minimal_detectable < 1:
        yield f"{found.pairs} such pairs find differences of {format_percent(found.minimal_detectable)} or more."
    if found.pairs < 5:
        missing = 5 - found.pairs
        yield f"A verdict takes at least {missing} more pair{'s' if missing > 1 else ''}."
    elif found.more_pairs_needed:
        more = found.more_pairs_needed
        yield f"About {more:,} more pair{'s' if more > 1 else ''} would tell."


def change(row: Row) -> str:
    """The speed-up of a part, or what became of it where there is none to give."""
    if row.ratio is not None:
        return ratio(row.ratio)
    if row.baseline_seconds == row.candidate_seconds:
        return ABSENT
    return "gone" if row.candidate_seconds == 0 else "new" if row.baseline_seconds == 0 else ABSENT


def saved(row: Row) -> str:
    """What the part's change saves of A's time; below zero it costs."""
    if row.contribution is None:
        return ABSENT
    said = format_percent(row.contribution)
    return "0.0%" if said == "-0.0%" else said


def memory_line(memory: MemoryRow) -> str:
    sides = f"{format_megabytes(memory.baseline_mb)} peak with A, {format_megabytes(memory.candidate_mb)} with B"
    return f"{sides}: {MEMORY_WORDS[memory.verdict]}"


def side_notes(found: Comparison) -> Iterator[tuple[str, list[str]]]:
    """Everything a reader should know besides: a title and lines for each."""
    if found.environment_differences:
        said = [
            f"{'(!) ' if d.incomparable else ''}{d.fact}: {_plain(d.baseline)} with A, {_plain(d.candidate)} with B"
            for d in found.environment_differences
        ]
        yield "Environment", [*(["compared all the same: --force"] if found.forced else []), *_some(said)]
    if found.outliers:
        said = [f"pair {outlier.pair} at {ratio(outlier.ratio)}" for outlier in found.outliers]
        yield "Outliers", ["far from the other pairs, counted all the same: " + ", ".join(_some(said))]
    if found.other_load is not None:
        yield "Other load", [f"others used {format_percent(found.other_load)} of the machine in a typical run"]
    if found.left_out:
        yield "Left out", _some([f"{entry.trial}: {entry.why}" for entry in found.left_out])


def _plain(text: str) -> str:
    """Where the interpreter lies on this machine is no difference."""
    return _INTERPRETER.sub(r"\1", text)


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LISTED
    return [*lines[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]
