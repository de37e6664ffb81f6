"""`anomaly-detection`: autograd's search for NaNs is on, which writes down a traceback for every operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import seconds_of
from rlprof.analyse.ledger import open_account
from rlprof.analyse.lines import interval
from rlprof.analyse.places import Spot
from rlprof.analyse.stacks import spots_with
from rlprof.model.phases import STARTUP
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Finding, Place, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "anomaly-detection"
FEWEST_SAMPLES: Final = 10
SMALLEST_SHARE: Final = 0.03
BACKWARD: Final = "learn.backward"
#: Backward looks at every gradient for NaNs, too, in C++, where no stack shows it: no more than this of its time.
MOST_OF_BACKWARD: Final = 0.6
PLACES_NAMED: Final = 3
_WRITES_DOWN: Final = "torch/fx/traceback.py"


def anomaly_detection(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where enough samples are below what autograd asks for the traceback of an operation."""
    account = open_account(recording.main)
    seconds, samples, total = 0.0, 0, 0
    counts: dict[Spot, int] = {}
    phases: list[str] = []
    for part in report.drilldown or ():
        if part.part == STARTUP or not part.samples:
            continue
        total += part.samples
        found = spots_with(account, part.part, _is_traceback)
        inside = sum(found.values())
        if inside:
            phases.append(part.part)
        samples += inside
        seconds += (part.seconds - part.unsampled_seconds) * inside / part.samples
        for spot, count in found.items():
            counts[spot] = counts.get(spot, 0) + count
    running = training_seconds(report)
    if samples < FEWEST_SAMPLES or running <= 0 or seconds < SMALLEST_SHARE * running:
        return
    asked = _asked(recording.main.facts.get("anomaly_detection_asked"))
    ranked = sorted(counts, key=lambda spot: -counts[spot])
    most = max(interval(samples / total, total)[1] * running, seconds) + MOST_OF_BACKWARD * seconds_of(report, BACKWARD)
    yield from Claim(
        RULE,
        f"autograd writes down where each operation was called, to find NaNs: {format_percent(seconds / running)} of "
        f"the time ({format_duration(seconds)}), and backward is slower for it",
        Saving(0.0, most),
        (*asked, *(Place(spot.file, spot.line, spot.function) for spot in ranked[:PLACES_NAMED])),
        "leave out `torch.autograd.set_detect_anomaly(True)` or `with torch.autograd.detect_anomaly():`, and switch it "
        f"on only while you look for a NaN. It costs most at {ranked[0].file}:{ranked[0].line}, where operations are "
        "made that it watches",
        {
            "phases": [*phases, *([] if BACKWARD in phases else [BACKWARD])],
            "traceback_seconds": seconds,
            "samples": samples,
            "share_of_training": seconds / running,
            "backward_seconds": seconds_of(report, BACKWARD),
        },
    ).findings(report)


def _asked(fact: Any) -> tuple[Place, ...]:
    """The line that switched it on, if one was seen to."""
    if not isinstance(fact, Mapping) or not isinstance(fact.get("file"), str) or type(fact.get("line")) is not int:
        return ()
    return (Place(fact["file"], fact["line"], str(fact.get("function", ""))),)


def _is_traceback(frame: Frame) -> bool:
    return frame.file.replace("\\", "/").endswith(_WRITES_DOWN) and frame.function == "format_stack"
