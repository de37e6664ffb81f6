"""What to do after a sweep, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rlprof.experiments.statistics import FEWEST_PAIRS
from rlprof.experiments.sweep_settings import number_of
from rlprof.model.comparison import Per
from rlprof.model.sweep import Rival, Setting, Standing
from rlprof.model.units import format_rate, format_ratio

#: How what is counted reads in a rate.
RATE_UNITS: Final[Mapping[Per, str]] = {"env step": "steps/s", "iteration": "iterations/s", "run": "runs/s"}
_MOST_NAMED: Final = 3


def said(values: Mapping[str, str]) -> str:
    """A setting as a person would say it."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def recommendation(settings: Sequence[Setting], best: str | None, standing: Standing, per: Per, margin: float) -> str:
    """Which setting to use, how sure that is, and what would make it surer."""
    fastest = next((setting for setting in settings if setting.name == best), None)
    if fastest is None:
        return "No setting completed a run that could be measured."
    name, speed = said(fastest.values), format_rate(fastest.rate, RATE_UNITS[per])
    others = [setting for setting in settings if setting.rate is not None and setting.name != best]
    slowest = min(others, key=lambda setting: setting.rate or 0.0, default=None)
    if slowest is None or not slowest.rate or not fastest.rate:
        return f"Use {name} ({speed}): no other setting completed a run."
    head = f"{name} ({speed}, {format_ratio(fastest.rate / slowest.rate)} the slowest, {said(slowest.values)})"
    if standing == "proven":
        return f"Use {head}: it is proven to be faster than every other setting."
    cheaper = _cheaper(fastest, [setting for setting in others if setting.against_best == "same"])
    if cheaper is not None:
        return f"Use {said(cheaper.values)}: {name} ({speed}) was fastest, but by less than {margin:.0%}."
    rivals = [setting for setting in others if setting.against_best != "slower"]
    named = ", ".join(said(setting.values) for setting in _nearest(rivals)[:_MOST_NAMED])
    more = f" and {len(rivals) - _MOST_NAMED} more" if len(rivals) > _MOST_NAMED else ""
    if standing == "tie":
        return f"Use {head}: {named}{more} {'is' if len(rivals) == 1 else 'are'} as fast."
    if min(setting.runs for setting in (fastest, *rivals)) < FEWEST_PAIRS:
        return f"Fastest seen: {head}; too few runs to prove it: --confirm, or --runs {FEWEST_PAIRS} and more."
    return f"Fastest seen: {head}; {named}{more} may be as fast: --confirm tells."


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


def confirmed(best: str, rivals: Sequence[Rival], names: Mapping[str, str], margin: float) -> tuple[Standing, str]:
    """What runs of the best against its neighbours say: the standing and a sentence."""
    by_verdict = {
        verdict: " and ".join(names[rival.setting] for rival in rivals if rival.verdict == verdict)
        for verdict in ("faster", "same", "cannot-tell", "slower")
    }
    if by_verdict["faster"]:
        return "refuted", f"Refuted: {by_verdict['faster']} is faster than {best}."
    if by_verdict["cannot-tell"] or not rivals:
        who = by_verdict["cannot-tell"] or "no neighbour"
        return "cannot-tell", f"Cannot tell {best} from {who}: more runs would."
    if by_verdict["same"]:
        return "tie", f"A tie: {best} and {by_verdict['same']} differ by less than {margin:.0%}."
    return "proven", f"Proven: {best} is faster than its neighbours ({by_verdict['slower']})."
