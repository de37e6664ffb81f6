"""Putting changes that help together: which of them go together, and what they should bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.experiments.investigate.arguments import settings_of
from rlprof.experiments.investigate.plan import Change, Hypothesis
from rlprof.model.investigation import NotCombined

ALL: Final = "all cures"
WITH_SMALL: Final = "all cures and those too small to tell"


@dataclass(frozen=True, slots=True)
class Winner:
    """A hypothesis that was confirmed, with what it brings; or one that could not be told, with what it should."""

    hypothesis: Hypothesis
    ratio: float


@dataclass(frozen=True, slots=True)
class Team:
    """Changes that are tried at once, and those that cannot be among them."""

    name: str
    winners: tuple[Winner, ...]
    left_out: tuple[NotCombined, ...]

    @property
    def change(self) -> Change:
        arguments: list[str] = []
        remove: list[str] = []
        environment: dict[str, str] = {}
        treatments: list[str] = []
        for change in (winner.hypothesis.change for winner in self.winners):
            arguments += [word for s in settings_of(change.arguments) for word in s.words if s not in _seen(arguments)]
            remove += [word for s in settings_of(change.remove) for word in s.words if s not in _seen(remove)]
            environment.update(change.environment)
            treatments += [treatment for treatment in change.treatments if treatment not in treatments]
        return Change(tuple(arguments), tuple(remove), environment, tuple(treatments))

    @property
    def changes_learning(self) -> bool:
        return any(winner.hypothesis.changes_learning for winner in self.winners)

    @property
    def expected(self) -> float | None:
        """What each saves of the baseline's time is saved together, as long as they are about different parts of it."""
        left = 1.0 - sum(1.0 - 1.0 / winner.ratio for winner in self.winners)
        return 1.0 / left if left > 0.01 else None


def _seen(words: Sequence[str]) -> list[object]:
    return list(settings_of(words))


def touched(change: Change) -> dict[str, str]:
    """Everything a change sets: what it is called, and what it is set to."""
    found = {setting.key: " ".join(setting.words) for setting in settings_of(change.arguments)}
    found.update({setting.key: "(removed)" for setting in settings_of(change.remove)})
    found.update(change.environment)
    for treatment in change.treatments:
        kind, _, target = treatment.partition("=")[0].partition(":")
        found[target or kind] = treatment  # skipping a function and replacing it are about one function
    return found


def collision(one: Change, other: Change) -> str | None:
    """What both set, to different ends; None where they go together."""
    mine, theirs = touched(one), touched(other)
    return next((key for key in mine if key in theirs and mine[key] != theirs[key]), None)


def teams_of(winners: Sequence[Winner], undecided: Sequence[Winner] = ()) -> list[Team]:
    """All winners that go together; and before them those that leave learning alone, where that is not the same.

    Behind them, all with those that could not be told: what is small beside a large cost is large once that is gone.
    """
    cures = sorted((w for w in winners if not w.hypothesis.is_diagnosis), key=lambda w: -w.ratio)
    diagnoses = [
        NotCombined(w.hypothesis.name, "shows where the time is, and is no cure")
        for w in winners
        if w.hypothesis.is_diagnosis
    ]
    teams = []
    harmless = [w for w in cures if not w.hypothesis.changes_learning]
    if len(harmless) < len(cures):
        left = [NotCombined(w.hypothesis.name, "changes learning") for w in cures if w.hypothesis.changes_learning]
        teams.append(_team("cures that leave learning as it is", harmless, [*left, *diagnoses]))
    teams.append(_team(ALL, cures, diagnoses))
    small = [w for w in undecided if not w.hypothesis.is_diagnosis]
    if cures and small:
        teams.append(_team(WITH_SMALL, [*cures, *small], diagnoses))
    return [team for team in teams if len(team.winners) > 1]


def _team(name: str, cures: Sequence[Winner], left_out: Sequence[NotCombined]) -> Team:
    """The one that brings most first; what collides with it, or with a later one, stays out."""
    chosen: list[Winner] = []
    colliding: list[NotCombined] = []
    for winner in cures:
        clashes = [(one, collision(one.hypothesis.change, winner.hypothesis.change)) for one in chosen]
        clash = next(((one, key) for one, key in clashes if key is not None), None)
        if clash is None:
            chosen.append(winner)
        else:
            why = f"sets {clash[1]}, as does {clash[0].hypothesis.name}, which brings more"
            colliding.append(NotCombined(winner.hypothesis.name, why))
    return Team(name, tuple(chosen), (*colliding, *left_out))
