"""What to do now, in order: what brings most for its effort first, then what has to be found out yet."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Final

from rlprof.experiments.investigate.plan import Change, Hypothesis
from rlprof.model.investigation import ActionItem, Tested

Sentences = Callable[[Tested, Hypothesis, str], tuple[str, str]]


def actions_of(hypotheses: Sequence[Hypothesis], tested: Sequence[Tested], directory: str) -> tuple[ActionItem, ...]:
    """Refuted hypotheses, and those that do less work, ask for nothing."""
    by_name = {hypothesis.name: hypothesis for hypothesis in hypotheses}
    chosen = sorted((one for one in tested if _kind(one) in _ORDER), key=_rank)
    items = []
    for rank, one in enumerate(chosen, start=1):
        action, why = _ORDER[_kind(one)](one, by_name[one.name], directory)
        gain = one.measured.ratio if one.verdict == "confirmed" and one.measured is not None else None
        items.append(ActionItem(rank, one.name, action, gain, one.effort, one.changes_learning, why))
    return tuple(items)


def _kind(one: Tested) -> str:
    return "diagnosis" if one.verdict == "confirmed" and one.diagnosis else one.verdict


def _rank(one: Tested) -> tuple[int, float]:
    gain = (one.measured.ratio or 1.0) - 1.0 if one.measured is not None else 0.0
    return list(_ORDER).index(_kind(one)), -gain / one.effort


def _keep(one: Tested, hypothesis: Hypothesis, _: str) -> tuple[str, str]:
    why = "changes what is learned: compare the returns before you keep it" if one.changes_learning else ""
    return hypothesis.words.action or f"keep {describe(hypothesis.change)}", why


def _cure(one: Tested, hypothesis: Hypothesis, _: str) -> tuple[str, str]:
    action = hypothesis.words.action or f"find a cure for what {describe(hypothesis.change)} leaves out"
    return action, "the time is there: so much faster it gets at most, once this costs nothing"


def _measure(one: Tested, _: Hypothesis, directory: str) -> tuple[str, str]:
    again = f"rlprof investigate --resume {shlex.quote(directory)}"
    more = one.measured.more_pairs_needed if one.measured is not None else None
    if one.measured is None or not more or more > 1000:
        return f"measure it on a quieter machine: {again}", "cannot tell so far"
    return f"measure on: {again} --runs {one.measured.pairs + more}", f"about {more} more pairs of runs would tell"


def _repair(one: Tested, _: Hypothesis, __: str) -> tuple[str, str]:
    return "put the change right in the plan and try again", one.notes[0] if one.notes else ""


def _test(one: Tested, hypothesis: Hypothesis, directory: str) -> tuple[str, str]:
    if hypothesis.change.is_empty:
        filled_in = (
            f"fill in its change in {directory}/plan.toml, then rlprof investigate --resume {shlex.quote(directory)}"
        )
        return filled_in, hypothesis.words.fill_in or hypothesis.words.action
    return f"test it: rlprof investigate --resume {shlex.quote(directory)}", one.notes[0] if one.notes else ""


_ORDER: Final[dict[str, Sentences]] = {
    "confirmed": _keep,
    "diagnosis": _cure,
    "cannot-tell": _measure,
    "failed": _repair,
    "untested": _test,
}


def describe(change: Change) -> str:
    """A change in a few words."""
    said = [shlex.join(change.arguments)] if change.arguments else []
    said += [f"no {shlex.join(change.remove)}"] if change.remove else []
    said += [f"{name}={value}" for name, value in change.environment.items()]
    said += change.treatments
    return ", ".join(said)
