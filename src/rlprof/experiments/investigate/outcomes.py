"""From the trials of a test to what they say: how fast, for which work, or why there is nothing to say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from rlprof.analyse.treatments import treatments_of
from rlprof.experiments.arm_comparisons import Readings, compare_arm
from rlprof.experiments.arms import BASELINE_ARM, ArmsJournal, Dropped
from rlprof.experiments.investigate.stage import CHANGE_ARM, baseline_failure, has_settled
from rlprof.experiments.investigate.verdicts import Outcome
from rlprof.experiments.logbook import Trial
from rlprof.experiments.peeking import END_BUDGET, look_level
from rlprof.experiments.same_work import LEAST_DIFFERENCE, Work, WorkDifference, judge_work, work_of
from rlprof.experiments.statistics import FEWEST_PAIRS, centre_of, holm_levels, log_ratios
from rlprof.model.comparison import Comparison
from rlprof.model.errors import RlprofError
from rlprof.model.investigation import Measured
from rlprof.model.investigation import Work as TypicalWork
from rlprof.model.recording import Recording

#: Work does not vary as speed does: so many pairs show whether it is the same.
ENOUGH_FOR_WORK: Final = 2


def outcome_of(journal: ArmsJournal, readings: Readings, level: float, *, may_learn_otherwise: bool) -> Outcome:
    """What a test came to. `may_learn_otherwise` says that its author knows: the agent will act otherwise, too."""
    pairs = _readable_pairs(journal, readings)
    if not pairs:
        return _without_pairs(journal)
    idle = _without_effect([readings.recording(changed) for _, changed in pairs])
    if idle is not None:
        return Outcome(failure=idle)
    try:
        found = compare_arm(journal, CHANGE_ARM, level=level, readings=readings)
    except RlprofError as error:
        return Outcome(failure=str(error))
    works = _works(readings, pairs)
    check = judge_work(works[0], works[1])
    less = less_work(works, may_learn_otherwise)
    return Outcome(
        measured=_measured(found, pairs, works),
        speed=found.overall.verdict,
        less_work=tuple(entry.text() for entry in less),
        notes=(
            *(entry.text() for entry in check.differences if entry not in less),
            *(
                []
                if check.kind != "unknown"
                else ["no env steps are counted: whether it does the same work is not known"]
            ),
            *_troubles(journal),
        ),
    )


def ends_test(readings: Readings, planned: int, *, may_learn_otherwise: bool) -> Callable[[ArmsJournal], list[Dropped]]:
    """Ends a test once its answer is clear. All tests of a plan share the budget of looks at the speed."""

    def drop(journal: ArmsJournal) -> list[Dropped]:
        useless = _hung(journal) or _without_effect(map(readings.recording, _changed(journal, readings)))
        if useless is not None:
            return [Dropped(CHANGE_ARM, useless, settled=False)]
        pairs = _readable_pairs(journal, readings)
        if len(pairs) >= ENOUGH_FOR_WORK and less_work(_works(readings, pairs), may_learn_otherwise):
            return [Dropped(CHANGE_ARM, "it does less work", settled=True)]
        clear = _is_clear(readings, journal.plan.conduct.margin, planned)
        return [Dropped(CHANGE_ARM, "its answer is clear", settled=True)] if clear else []

    return drop


def _is_clear(readings: Readings, margin: float, planned: int) -> bool:
    centre = readings.centre(CHANGE_ARM)
    if centre is None or centre.n < FEWEST_PAIRS:
        return False
    low, high = centre.interval(look_level(centre.n) / max(planned, 1))
    edge = math.log1p(margin)
    return low > 0 or high < 0 or (-edge < low and high < edge)


def _hung(journal: ArmsJournal) -> str | None:
    """Once is long enough, for a change that never came to an end."""
    hung = next((t for t in journal.trials if t.variant == CHANGE_ARM and t.outcome == "timeout"), None)
    if hung is None or journal.completed(CHANGE_ARM):
        return None
    log = journal.directory / Path(hung.recording).with_suffix(".log")
    return f"did not end within {journal.plan.timeout:g} s; what it said is in {log}"


def _changed(journal: ArmsJournal, readings: Readings) -> list[Trial]:
    return [trial for trial in journal.completed(CHANGE_ARM) if readings.readable(trial)]


def _readable_pairs(journal: ArmsJournal, readings: Readings) -> list[tuple[Trial, Trial]]:
    return [pair for pair in journal.pairs(CHANGE_ARM) if all(map(readings.readable, pair))]


def _works(readings: Readings, pairs: Sequence[tuple[Trial, Trial]]) -> list[list[Work]]:
    return [[work_of(readings.recording(pair[side])) for pair in pairs] for side in (0, 1)]


def less_work(works: Sequence[Sequence[Work]], may_learn_otherwise: bool) -> list[WorkDifference]:
    """What a change does less of without saying so, the program as it is first."""
    differences = judge_work(works[0], works[1]).differences
    return [entry for entry in differences if _is_less(entry, works, may_learn_otherwise)]


def _without_pairs(journal: ArmsJournal) -> Outcome:
    if baseline_failure(journal) is not None:
        return Outcome(untested="the program as it is did not work when its turn came")
    hopeless = next((entry.why for entry in journal.dropped if not entry.settled), None)
    if hopeless is not None:
        return Outcome(failure=hopeless)
    troubles = _troubles(journal)
    return Outcome(failure=troubles[0]) if troubles else Outcome(untested="it was not run to the end yet")


def _troubles(journal: ArmsJournal) -> list[str]:
    """Trials that did not end as they should."""
    bad = [trial for trial in journal.trials if trial.outcome in ("failed", "timeout")]
    return (
        [f"{len(bad)} of {len(journal.trials)} runs failed or did not end in time: see {journal.directory}"]
        if bad
        else []
    )


def _without_effect(recordings: Iterable[Recording]) -> str | None:
    """Why a change inside the process did not come about; None where it did, or there was none."""
    idle = [entry for recording in recordings for entry in treatments_of(recording) if not entry.applied]
    return f"{idle[0].text} had no effect: {idle[0].why}" if idle else None


def _is_less(difference: WorkDifference, works: Sequence[Sequence[Work]], may_learn_otherwise: bool) -> bool:
    """Whether a difference makes a speed-up one by doing less.

    Another agent plays other episodes, and learns less or more; but it does not play less of them for less steps.
    """
    if not may_learn_otherwise:
        return difference.kind in ("less", "different")
    if difference.measure != "env steps" or difference.ratio is None or difference.ratio > 1:
        return False
    played = [_typical(work.episodes for work in side) for side in works]
    return not played[0] or played[1] is None or played[1] < (1 - LEAST_DIFFERENCE) * played[0]


def _measured(found: Comparison, pairs: Sequence[tuple[Trial, Trial]], works: Sequence[Sequence[Work]]) -> Measured:
    overall = found.overall
    whole = log_ratios([a.seconds for a, _ in pairs], [b.seconds for _, b in pairs])
    return Measured(
        ratio=overall.ratio,
        low=overall.low,
        high=overall.high,
        level=overall.level,
        pairs=found.pairs,
        per=found.per,
        end_to_end=math.exp(centre_of(whole).mean) if whole else None,
        baseline_seconds=median(a.seconds for a, _ in pairs),
        seconds=median(b.seconds for _, b in pairs),
        baseline_sps=found.sps.baseline if found.sps else None,
        sps=found.sps.candidate if found.sps else None,
        more_pairs_needed=found.more_pairs_needed,
        baseline_work=_typical_work(works[0]),
        work=_typical_work(works[1]),
    )


def _typical_work(works: Sequence[Work]) -> TypicalWork:
    return TypicalWork(
        env_steps=_typical(work.env_steps for work in works),
        episodes=_typical(work.episodes for work in works),
        steps_per_episode=_typical(work.steps_per_episode for work in works),
        updates=_typical(work.updates for work in works),
    )


def _typical(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def levels_of(tests: dict[str, tuple[ArmsJournal, Readings]], planned: int) -> dict[str, float]:
    """What each test is held to, so that among all of a plan there is a false alarm in one of twenty plans."""
    found = {name: readings.centre(CHANGE_ARM, BASELINE_ARM) for name, (_, readings) in tests.items()}
    centres = {name: centre for name, centre in found.items() if centre is not None}
    held = holm_levels({name: centre.p_differs() for name, centre in centres.items()}, END_BUDGET)
    levels = {name: level for name, (level, _) in held.items()}
    for name, centre in centres.items():
        journal = tests[name][0]
        # Only the first planned end has a budget of its own: who stops before it, or asks for more, is peeking.
        if has_settled(journal) or journal.ended_at[:1] != [centre.n]:
            levels[name] = (look_level(centre.n) or END_BUDGET) / max(planned, 1)
    return levels
