"""Runs the trials of a comparison one after the other, and notes how each ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, TypeVar

from rlprof.experiments.journal import Journal
from rlprof.experiments.logbook import WARM_UP, AnyPlan, Logbook, Trial
from rlprof.experiments.schedule import BASELINE, Variant, order_of_pair
from rlprof.experiments.trial_process import run_recorded
from rlprof.model.errors import RlprofError

#: So many failures of one side, with no success of it, and the command is taken to be wrong.
HOPELESS: Final = 2
#: A machine that goes away is nobody's fault; one that does so again and again under a variant is.
MOST_LOST: Final = 3

PlanType = TypeVar("PlanType", bound=AnyPlan)


class TrialsFail(RlprofError):
    """A command of the experiment does not work."""


class Watcher(Protocol):
    """Is told what goes on. All of it may do nothing."""

    def begins(self, pair: int, variant: str) -> None: ...

    def ended(self, trial: Trial) -> None: ...


RunTrial = Callable[[Journal, int, Variant, str], Trial]


def run_trials(
    journal: Journal, watcher: Watcher, settled: Callable[[Journal], bool], run: RunTrial | None = None
) -> bool:
    """Run what is missing; whether it stopped early. A KeyboardInterrupt passes through with everything saved."""
    run = run or run_command
    supersede_broken_pairs(journal)
    for pair, variant in _missing(journal):
        if pair >= 0 and _is_first_of_pair(journal, pair) and settled(journal):
            return True
        name = journal.free_name(pair, variant)
        watcher.begins(pair, variant)
        note(journal, watcher, run(journal, pair, variant, name))
        stop_if_hopeless(journal, variant)
    return False


def note(journal: Logbook[PlanType], watcher: Watcher, trial: Trial) -> None:
    """Write a trial down before anything else happens."""
    journal.trials.append(trial)
    journal.save()
    watcher.ended(trial)
    if trial.outcome == "interrupted":
        raise KeyboardInterrupt


def _missing(journal: Journal) -> Iterator[tuple[int, Variant]]:
    """Warm-ups, then the pairs; a pair that failed in part is not tried again."""
    plan = journal.plan
    done = {(t.pair, t.variant) for t in journal.trials if t.came_to_its_end and not t.superseded}
    warmed = sum(t.pair == WARM_UP and t.outcome == "completed" for t in journal.trials)
    for number in range(warmed, plan.warm_up_runs):
        yield WARM_UP, order_of_pair(plan.seed, number)[0]
    for pair in range(plan.runs):
        for variant in order_of_pair(plan.seed, pair):
            if (pair, variant) not in done:
                yield pair, variant


def supersede_broken_pairs(journal: Journal) -> None:
    """The half of a pair that was interrupted lies back in time: the pair is run again, the half stays on record."""
    sides: dict[int, list[Trial]] = {}
    for trial in journal.trials:
        if trial.pair >= 0 and not trial.superseded:
            sides.setdefault(trial.pair, []).append(trial)
    for pair, trials in sides.items():
        done = {t.variant for t in trials if t.came_to_its_end}
        if len(done) < 2:
            journal.trials = [replace(t, superseded=True) if t.pair == pair else t for t in journal.trials]


def _is_first_of_pair(journal: Journal, pair: int) -> bool:
    return not any(t.pair == pair and not t.superseded for t in journal.trials)


def stop_if_hopeless(journal: Journal, variant: str) -> None:
    """A side that never works ends the comparison."""
    why = hopeless(journal.trials, variant, journal.directory)
    if why is not None:
        raise TrialsFail(f"--{'a' if variant == BASELINE else 'b'} {why}")


def hopeless(trials: Sequence[Trial], variant: str, directory: Path) -> str | None:
    """Why there is no use in trying this variant again, if there is none: it failed repeatedly and never worked."""
    own = [t for t in trials if t.variant == variant]
    if any(t.outcome == "completed" for t in own):
        return None
    if sum(t.outcome == "lost" for t in own) >= MOST_LOST:
        return f"was lost with its machine {MOST_LOST} times"
    if sum(t.outcome in ("failed", "timeout") for t in own) < HOPELESS:
        return None
    how = "ran into the time limit" if own[-1].outcome == "timeout" else f"failed with exit code {own[-1].exit_code}"
    return f"{how} {HOPELESS} times; what it said is in {directory / Path(own[-1].recording).with_suffix('.log')}"


def run_command(journal: Journal, pair: int, variant: Variant, name: str) -> Trial:
    """Run one side once, recorded, and wait for its end."""
    plan = journal.plan
    ended = run_recorded(plan.command(variant), journal.directory / name, plan.timeout)
    return Trial(pair, variant, name, ended.outcome, ended.exit_code, ended.seconds, ended.other_load)
