"""What to do after a sweep, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.experiments.statistics import FEWEST_PAIRS
from rlprof.experiments.sweep_settings import number_of
from rlprof.model.comparison import Per
from rlprof.model.sweep import Confirmation, Rival, Setting, Standing
from rlprof.model.units import format_rate, format_ratio

#: How what is counted reads in a rate.
RATE_UNITS: Final[Mapping[Per, str]] = {"env step": "steps/s", "iteration": "iterations/s", "run": "runs/s"}
_MOST_NAMED: Final = 3


def said(values: Mapping[str, str]) -> str:
    """A setting as a person would say it."""
    return " ".join(f"{name}={value}" for name, value in values.items())


@dataclass(frozen=True)
class Found:
    """What a recommendation rests on."""

    best: str | None
    standing: Standing
    per: Per
    margin: float
    confirmation: Confirmation | None = None


def recommendation(settings: Sequence[Setting], found: Found) -> str:
    """Which setting to use, how sure that is, and what would make it surer."""
    fastest = next((setting for setting in settings if setting.name == found.best), None)
    if fastest is None:
        return "No setting completed a run that could be measured."
    name, speed = said(fastest.values), format_rate(fastest.rate, RATE_UNITS[found.per])
    others = [setting for setting in settings if setting.rate is not None and setting.name != found.best]
    slowest = min(others, key=lambda setting: setting.rate or 0.0, default=None)
    if slowest is None or not slowest.rate or not fastest.rate:
        return f"Use {name} ({speed}): no other setting completed a run."
    head = f"{name} ({speed}, {format_ratio(fastest.rate / slowest.rate)} the slowest, {said(slowest.values)})"
    if found.confirmation is not None and found.confirmation.best == found.best:
        return _after_confirmation(head, fastest, settings, found.confirmation, found.margin)
    if found.standing == "proven":
        return f"Use {head}: it is proven to be faster than every other setting."
    cheaper = _cheaper(fastest, [setting for setting in others if setting.against_best == "same"])
    if cheaper is not None:
        return f"Use {said(cheaper.values)}: {name} ({speed}) was fastest, but by less than {found.margin:.0%}."
    return _unproven(head, fastest, [setting for setting in others if setting.against_best != "slower"], found)


def _unproven(head: str, fastest: Setting, rivals: Sequence[Setting], found: Found) -> str:
    named = ", ".join(said(setting.values) for setting in _nearest(rivals)[:_MOST_NAMED])
    more = f" and {len(rivals) - _MOST_NAMED} more" if len(rivals) > _MOST_NAMED else ""
    if found.standing == "tie":
        return f"Use {head}: {named}{more} {'is' if len(rivals) == 1 else 'are'} as fast."
    if min(setting.runs for setting in (fastest, *rivals)) < FEWEST_PAIRS:
        return f"Fastest seen: {head}; too few runs to prove it: --confirm, or --runs {FEWEST_PAIRS} and more."
    return f"Fastest seen: {head}; {named}{more} may be as fast: --confirm tells."


def _after_confirmation(
    head: str, fastest: Setting, settings: Sequence[Setting], told: Confirmation, margin: float
) -> str:
    """Runs that were made to answer the question count for more than those that raised it."""
    by_name = {setting.name: setting for setting in settings}
    if told.standing == "proven":
        return f"Use {head}: it is proven to be faster than its neighbours."
    if told.standing == "refuted":
        best = max((rival for rival in told.rivals if rival.verdict == "faster"), key=lambda rival: rival.ratio or 0.0)
        better = said(by_name[best.setting].values)
        return f"Use {better}: it is proven to be faster than {said(fastest.values)}, which the sweep had first."
    if told.standing == "tie":
        equal = [by_name[rival.setting] for rival in told.rivals if rival.verdict == "same"]
        cheaper = _cheaper(fastest, equal)
        if cheaper is not None:
            return f"Use {said(cheaper.values)}: {head} is faster by less than {margin:.0%}, if at all."
        return f"Use {head}: {' and '.join(said(setting.values) for setting in equal)} would do as well."
    if told.standing == "unbeaten":
        return f"Use {head}: no neighbour is faster by more than {_ahead_at_most(told.rivals):.1%}."
    return f"Fastest seen: {head}; {_left_open(told, by_name)}"


def _left_open(told: Confirmation, by_name: Mapping[str, Setting]) -> str:
    """Which neighbours it is proven to be faster than, and which may be as fast."""
    pairs = max((rival.pairs for rival in told.rivals), default=0)
    slower, unknown = (
        " and ".join(said(by_name[rival.setting].values) for rival in told.rivals if rival.verdict == verdict)
        for verdict in ("slower", "cannot-tell")
    )
    if not slower or not unknown:
        return f"its neighbours may be as fast, which {pairs} pairs cannot tell."
    return f"proven to be faster than {slower}; {unknown} may be as fast, which {pairs} pairs cannot tell."


def _nearest(settings: Sequence[Setting]) -> list[Setting]:
    return sorted(settings, key=lambda setting: setting.rate or 0.0, reverse=True)


def _cheaper(fastest: Setting, equal: Sequence[Setting]) -> Setting | None:
    """One that is as fast with less of something and more of nothing."""
    fitting = [setting for setting in equal if _needs_less(setting.values, fastest.values)]
    return min(
        fitting, key=lambda setting: [number_of(value) or 0.0 for value in setting.values.values()], default=None
    )


def _needs_less(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    for name, value in one.items():
        mine, theirs = number_of(value), number_of(other[name])
        if value != other[name] and (mine is None or theirs is None or mine > theirs):
            return False
    return dict(one) != dict(other)


def _ahead_at_most(rivals: Sequence[Rival]) -> float:
    """By how much the fastest of them may be faster than the best; infinite where too few runs were made."""
    known = [rival.high for rival in rivals if rival.high is not None and rival.pairs >= FEWEST_PAIRS]
    return max(max(known) - 1.0, 0.0) if len(known) == len(rivals) else math.inf


def confirmed(best: str, rivals: Sequence[Rival], names: Mapping[str, str], margin: float) -> tuple[Standing, str]:
    """What runs of the best against its neighbours say: the standing and a sentence."""
    by_verdict = {
        verdict: " and ".join(names[rival.setting] for rival in rivals if rival.verdict == verdict)
        for verdict in ("faster", "same", "cannot-tell", "slower")
    }
    if by_verdict["faster"]:
        return "refuted", f"Refuted: {by_verdict['faster']} is faster than {best}."
    if by_verdict["cannot-tell"] and (ahead := _ahead_at_most(rivals)) <= margin:
        slower = f" {by_verdict['slower']}: slower." if by_verdict["slower"] else ""
        return "unbeaten", f"Confirmed: no neighbour is faster than {best} by more than {ahead:.1%}.{slower}"
    if by_verdict["cannot-tell"] or not rivals:
        who = by_verdict["cannot-tell"] or "no neighbour"
        return "cannot-tell", f"Cannot tell {best} from {who}: more runs would (--confirm-runs)."
    if by_verdict["same"]:
        return "tie", f"A tie: {best} and {by_verdict['same']} differ by less than {margin:.0%}."
    return "proven", f"Proven: {best} is faster than its neighbours ({by_verdict['slower']})."
