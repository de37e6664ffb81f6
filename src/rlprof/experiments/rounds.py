"""Runs arms in rounds: every arm once per round, in an order by chance, one at a time, saved after each trial."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, Dropped
from rlprof.experiments.executor import MOST_LOST, TrialsFail, Watcher, hopeless, note
from rlprof.experiments.logbook import WARM_UP, Logbook, PlanType, Trial
from rlprof.experiments.schedule import order_of_round
from rlprof.experiments.trial_process import run_recorded

#: Runs an arm once in this round, into a recording of this name, wherever that is.
RunArm = Callable[[ArmsJournal, int, Arm, str], Trial]
#: The arms that further rounds are to leave out; asked before every round.
Drop = Callable[[ArmsJournal], list[Dropped]]
#: Whether to stop before the next round.
Enough = Callable[[ArmsJournal], bool]


def run_rounds(
    journal: ArmsJournal,
    watcher: Watcher,
    *,
    drop: Drop | None = None,
    enough: Enough | None = None,
    run: RunArm | None = None,
) -> bool:
    """Run what is missing; whether it ended before all rounds were run.

    A KeyboardInterrupt passes through with everything saved. An arm that never works is dropped; if that is the
    baseline, or none is left, TrialsFail says so.
    """
    run = run or run_arm
    session = next_session(journal)
    _warm_up(journal, watcher, run, session)
    for number in range(journal.plan.runs):
        if not may_begin(journal, number, drop, enough):
            return True
        for name in missing_in_round(journal, number, session):
            _run_one(journal, watcher, run, number, name, session)
    return False


def may_begin(journal: ArmsJournal, number: int, drop: Drop | None, enough: Enough | None) -> bool:
    """Whether a round is to be run, after dropping what it is to leave out."""
    if any(trial.pair == number and trial.came_to_its_end for trial in journal.trials):
        return True  # what was begun is finished, whatever has become clear meanwhile
    if enough is not None and number > 0 and enough(journal):
        return False
    found = drop(journal) if drop is not None else []
    if found:
        journal.dropped += [entry for entry in found if entry.arm in journal.active()]
        journal.save()
    return _anything_left(journal)


def run_arm(journal: ArmsJournal, round_number: int, arm: Arm, name: str) -> Trial:
    """Run an arm once on this machine, recorded, and wait for its end."""
    ended = run_recorded(arm.words(), journal.directory / name, journal.plan.timeout, arm.surroundings())
    return Trial(round_number, arm.name, name, ended.outcome, ended.exit_code, ended.seconds, ended.other_load)


def seconds_left(journal: ArmsJournal) -> float | None:
    """How long the remaining trials will take if each takes as long as its arm did so far; None before the first."""
    took: dict[str, list[float]] = {}
    for trial in journal.trials:
        if trial.outcome in ("completed", "timeout"):
            took.setdefault(trial.variant, []).append(trial.seconds)
    if not took:
        return None
    typical = fmean(seconds for group in took.values() for seconds in group)
    done = {(trial.pair, trial.variant) for trial in journal.trials if trial.came_to_its_end}
    return sum(
        fmean(took.get(arm, [typical]))
        for arm in journal.active()
        for number in range(journal.plan.runs)
        if (number, arm) not in done
    )


def next_session(journal: Logbook[PlanType]) -> int:
    return 1 + max((trial.session for trial in journal.trials), default=-1)


def _warm_up(journal: ArmsJournal, watcher: Watcher, run: RunArm, session: int) -> None:
    names = journal.plan.variants
    first = BASELINE_ARM if BASELINE_ARM in names else names[0]
    warmed = sum(trial.pair == WARM_UP and trial.came_to_its_end for trial in journal.trials)
    for _ in range(warmed, journal.plan.conduct.warm_up_runs):
        _run_one(journal, watcher, run, WARM_UP, first, session)


def _run_one(journal: ArmsJournal, watcher: Watcher, run: RunArm, number: int, name: str, session: int) -> None:
    if name not in journal.active():
        return  # it became hopeless in this very round
    recording = journal.free_name(number, name)
    watcher.begins(number, name)
    found = run(journal, number, journal.plan.arm(name), recording)
    note(journal, watcher, replace(found, session=session))
    give_up_if_hopeless(journal, name)


def give_up_if_hopeless(journal: ArmsJournal, name: str) -> None:
    """Drop an arm that never works; if that is the baseline, or none has worked, the experiment is over."""
    why = hopeless(journal.trials, name, journal.directory)
    if why is None:
        return
    journal.dropped.append(Dropped(name, why, settled=False))
    journal.save()
    if name == BASELINE_ARM:
        raise TrialsFail(f"the program as it is {why}")
    if not _anything_left(journal) and not any(journal.completed(arm) for arm in _others(journal)):
        raise TrialsFail(f"no arm works; {name} {why}")


def _anything_left(journal: ArmsJournal) -> bool:
    return any(name in journal.active() for name in _others(journal))


def _others(journal: ArmsJournal) -> list[str]:
    return [name for name in journal.plan.variants if name != BASELINE_ARM]


def missing_in_round(journal: ArmsJournal, number: int, session: int, node: str | None = None) -> list[str]:
    """The arms of a round that have not run, in order.

    In a round that was begun in an earlier session, or on another machine, the baseline runs again: those that are
    still to run get a partner of their own time and place, and those that have run keep theirs.
    """
    conduct = journal.plan.conduct
    done = {t.variant: t for t in journal.trials if t.pair == number and t.came_to_its_end}
    lost = Counter(t.variant for t in journal.trials if t.pair == number and t.outcome == "lost")
    missing = [
        name
        for name in order_of_round(conduct.seed, number, journal.plan.variants)
        if name not in done and name in journal.active() and lost[name] < MOST_LOST
    ]
    earlier = done.get(BASELINE_ARM)
    elsewhere = earlier is not None and (earlier.session, earlier.node) != (session, node)
    if missing and elsewhere and BASELINE_ARM in journal.active():
        missing.insert(len(missing) // 2, BASELINE_ARM)
    return missing


class Budget:
    """Says that enough was measured when the next round would end later than a number of seconds allows.

    What earlier sessions took does not count. The first round is always run: with part of it, nothing is known.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._started = clock()
        self.said: str | None = None

    def __call__(self, journal: ArmsJournal) -> bool:
        if self._seconds is None:
            return False
        spent = self._clock() - self._started
        typical = [
            fmean(took)
            for arm in journal.active()
            if (took := [trial.seconds for trial in journal.trials if trial.variant == arm])
        ]
        if spent + sum(typical) <= self._seconds:
            return False
        rounds = max((trial.pair for trial in journal.trials), default=-1) + 1
        self.said = f"another round would take longer than the budget of {self._seconds:g} s allows ({rounds} were run)"
        return True
