"""`sync-in-loop`: values are taken out of tensors one by one, many times for each step of the environments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.findings import Claim, Saving
from rlprof.advise.sites import SYNCS, Site, lines_of, most_of, user_sites
from rlprof.advise.steps import network_calls, step_calls
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report
from rlprof.model.units import format_count, format_duration

RULE: Final = "sync-in-loop"
#: Calls from one line for each step of the environments, or each update where there are more of them. Where no step was
#: seen, for each time that networks are asked.
FEWEST_PER_TURN: Final = 4.0
PLACES_NAMED: Final = 5


def sync_in_loop(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks when lines of the user's make several such calls in each turn, and these take time."""
    turns = _turns(report)
    if not turns:
        return
    often = [site for site in user_sites(recording, report, SYNCS) if _is_looped(site, turns)]
    if not often:
        return
    often.sort(key=lambda site: -most_of(report, [site]))
    most = most_of(report, often)
    calls = sum(site.calls for site in often)
    what = " and ".join(sorted({name for site in often for name in site.what}))
    steps = report.throughput.env_steps
    yield from Claim(
        RULE,
        f"{format_count(calls)} calls of {what}, {calls / turns:.3g} for each step of the loop",
        Saving(0.0, most),
        tuple(site.place for site in often[:PLACES_NAMED]),
        _cure(report, often[0], calls / turns),
        {
            "phases": sorted({phase for site in often for phase in site.calls_by_phase}),
            "calls": calls,
            "calls_per_turn": calls / turns,
            "calls_per_env_step": calls / steps if steps else None,
            "call_seconds": sum(site.seconds for site in often),
            "line_seconds_at_most": most,
            "on_device": any(site.on_device for site in often),
            "lines": [_evidence(report, site) for site in often[:PLACES_NAMED]],
        },
    ).findings(report)


def _turns(report: Report) -> int:
    """Where no step was seen, an update may be of a whole rollout: networks are asked at least once a turn."""
    updates = int(report.throughput.updates or 0)
    return max(step_calls(report) or network_calls(report), updates)


def _is_looped(site: Site, turns: int) -> bool:
    """Advantages that are computed element by element are a rule of their own."""
    return site.calls >= FEWEST_PER_TURN * turns and not site.mostly_in("advantage")


def _evidence(report: Report, site: Site) -> dict[str, object]:
    return {
        "file": site.place.file,
        "line": site.place.line,
        "what": sorted(site.what),
        "calls": site.calls,
        "call_seconds": site.seconds,
        "line_seconds": sum(line.seconds for line in lines_of(report, site)),
    }


def _cure(report: Report, site: Site, per_turn: float) -> str:
    wait = ", and on a device each call waits for all work that is queued" if site.on_device else ""
    return (
        f"{site.place.file}:{site.place.line} asks for single values in a loop ({per_turn:.3g} times a step, "
        f"{format_duration(most_of(report, [site]))} at most{wait}). Take all of them at once, before the loop: "
        "`values = tensor.tolist()`, or `array = tensor.cpu().numpy()` and index the array; sums and means belong to "
        "torch (`tensor.mean().item()`, once); keep what is only logged in a tensor and read it every few hundred steps"
    )
