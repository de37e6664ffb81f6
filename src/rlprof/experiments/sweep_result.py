"""What the trials of a sweep say, however far it has come."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from rlprof.analyse.student import quantile
from rlprof.experiments.arm_comparisons import Readings, compare_arm
from rlprof.experiments.arms import ArmsJournal
from rlprof.experiments.compare import Incomparable
from rlprof.experiments.load import load_warnings, typical_load
from rlprof.experiments.logbook import Trial
from rlprof.experiments.measurements import Measurement
from rlprof.experiments.same_work import Work, judge_work, work_of
from rlprof.experiments.statistics import ALPHA, FEWEST_PAIRS, Centre, centre_of
from rlprof.experiments.sweep_curves import curves_of
from rlprof.experiments.sweep_words import Found, recommendation, said
from rlprof.experiments.trial_pairs import left_out
from rlprof.model.comparison import ComparisonWarning, Per, Verdict
from rlprof.model.recording import Recording
from rlprof.model.sweep import SWEEP_SCHEMA, Confirmation, PhaseShare, Setting, Standing, Sweep

KIND = "sweep"


@dataclass(frozen=True)
class How:
    """How a sweep came to where it is."""

    command: str
    stopped: str | None = None
    confirmation: Confirmation | None = None


class _Measured:
    """The measurements of every setting that has any, in the unit that most of them have."""

    def __init__(self, journal: ArmsJournal) -> None:
        self.readings = Readings(journal)
        runs = {name: self._readable(journal.completed(name)) for name in journal.plan.variants}
        units = Counter(self.readings.of(trial).per for trials in runs.values() for trial in trials)
        self.per: Per = units.most_common(1)[0][0] if units else "run"
        self.units = tuple(units)
        self.trials = {name: [t for t in trials if self._counts(t)] for name, trials in runs.items()}
        self.rates = {name: centre_of(logs) for name in runs if (logs := self._log_rates(name))}

    def _readable(self, trials: Sequence[Trial]) -> list[Trial]:
        return [trial for trial in trials if self.readings.readable(trial)]

    def _counts(self, trial: Trial) -> bool:
        found = self.readings.of(trial)
        return found.per == self.per and found.seconds > 0

    def _log_rates(self, name: str) -> list[float]:
        return [-math.log(found.seconds) for found in self.measurements(name)]

    def measurements(self, name: str) -> list[Measurement]:
        return [self.readings.of(trial) for trial in self.trials[name]]

    def recordings(self, name: str) -> list[Recording]:
        return [self.readings.recording(trial) for trial in self.trials[name]]


def sweep_of(journal: ArmsJournal, how: How) -> Sweep:
    """The table, the curves with their laws, and the recommendation."""
    measured = _Measured(journal)
    values: Mapping[str, Mapping[str, str]] = journal.plan.settings["settings"]
    parameters = {str(name): tuple(map(str, listed)) for name, listed in journal.plan.settings["parameters"].items()}
    best = best_setting(journal, measured.rates)
    verdicts = _against(journal, best, measured) if best is not None else {}
    settings = tuple(_setting(journal, name, values[name], measured, verdicts) for name in journal.plan.variants)
    standing = _standing(settings, best)
    load = typical_load(t.other_load for trials in measured.trials.values() for t in trials)
    return Sweep(
        schema=SWEEP_SCHEMA,
        command=how.command,
        parameters=parameters,
        one_at_a_time=bool(journal.plan.settings["one_at_a_time"]),
        per=measured.per,
        rounds=min((setting.runs for setting in settings if setting.runs), default=0),
        rounds_planned=journal.plan.runs,
        settings=settings,
        curves=curves_of(parameters, values, measured.rates),
        best=best,
        standing=standing,
        recommendation=recommendation(
            settings, Found(best, standing, measured.per, journal.plan.conduct.margin, how.confirmation)
        ),
        confirmation=how.confirmation,
        stopped=how.stopped,
        left_out=tuple(left_out(journal)),
        other_load=load,
        warnings=(*load_warnings(load), *_unit_warnings(measured), *_work_warnings(settings, best)),
    )


def measured_rates(journal: ArmsJournal) -> dict[str, Centre]:
    """The logarithm of every setting's rate."""
    return _Measured(journal).rates


def best_setting(journal: ArmsJournal, rates: Mapping[str, Centre]) -> str | None:
    """The fastest of those that always worked; of all that ever did, where none always did."""
    troubled = {t.variant for t in journal.trials if t.outcome in ("failed", "timeout")}
    sound = [name for name in rates if name not in troubled] or list(rates)
    return max(sound, key=lambda name: rates[name].mean, default=None)


def level_among(settings: int) -> float:
    """What a comparison with the best of so many is held to. As the same runs chose the best, all pairs share."""
    return ALPHA / max(settings * (settings - 1) // 2, 1)


def _against(journal: ArmsJournal, best: str, measured: _Measured) -> dict[str, Verdict]:
    """Every other setting against the best."""
    others = [name for name in measured.rates if name != best]
    level = level_among(len(others) + 1)
    found: dict[str, Verdict] = {}
    for name in others:
        try:
            told = compare_arm(journal, name, baseline=best, level=level, readings=measured.readings)
            found[name] = told.overall.verdict
        except Incomparable:  # no round has both, or they are measured per different things
            found[name] = "cannot-tell"
    return found


def _setting(
    journal: ArmsJournal,
    name: str,
    values: Mapping[str, str],
    measured: _Measured,
    verdicts: Mapping[str, Verdict],
) -> Setting:
    trials = [trial for trial in journal.trials if trial.variant == name]
    rate = measured.rates.get(name)
    likely = interval_of(rate, measured.rates) if rate is not None else None
    runs = measured.trials[name]
    return Setting(
        name=name,
        values=dict(values),
        runs=len(runs),
        rate=math.exp(rate.mean) if rate is not None else None,
        low=math.exp(likely[0]) if likely is not None else None,
        high=math.exp(min(likely[1], 700.0)) if likely is not None else None,
        phases=_phases(measured.measurements(name)),
        trial_seconds=median(trial.seconds for trial in runs) if runs else None,
        failed=sum(trial.outcome == "failed" for trial in trials),
        timed_out=sum(trial.outcome == "timeout" for trial in trials),
        against_best=verdicts.get(name),
        given_up=next((entry.why for entry in journal.dropped if entry.arm == name), None),
        other_work=_other_work(_first_measured(journal, measured), name, measured),
    )


def interval_of(rate: Centre, rates: Mapping[str, Centre]) -> tuple[float, float] | None:
    """Where the logarithm of a rate lies in 95 of 100 cases; None where nothing was run twice.

    Two or three runs alone hardly say how far runs lie apart. All settings were run on one machine in the same
    rounds, so that their runs are taken to scatter alike, as shares, until a setting has enough of its own.
    """
    if rate.n >= FEWEST_PAIRS:
        return rate.interval(ALPHA)
    repeated = [other for other in rates.values() if other.n > 1]
    freedom = sum(other.df for other in repeated)
    if not freedom:
        return None
    scatter = math.sqrt(sum(other.df * other.spread**2 for other in repeated) / freedom)
    reach = quantile(ALPHA, freedom) * scatter / math.sqrt(rate.n)
    return rate.mean - reach, rate.mean + reach


def _phases(measurements: Sequence[Measurement]) -> tuple[PhaseShare, ...]:
    """Of a typical run, the largest first."""
    if not measurements:
        return ()
    names = dict.fromkeys(phase for found in measurements for phase in found.phases)
    seconds = {phase: median(found.phases.get(phase, 0.0) for found in measurements) for phase in names}
    whole = sum(seconds.values())
    rows = [PhaseShare(phase, spent, spent / whole) for phase, spent in seconds.items() if spent > 0]
    return tuple(sorted(rows, key=lambda row: row.seconds, reverse=True))


def _first_measured(journal: ArmsJournal, measured: _Measured) -> str | None:
    return next((name for name in journal.plan.variants if measured.trials[name]), None)


def _other_work(first: str | None, name: str, measured: _Measured) -> str | None:
    if first is None or name == first or not measured.trials[name]:
        return None
    # Rates are per env step, so that only what is done for one has to be the same.
    found = judge_work(*([_per_step(work_of(r)) for r in measured.recordings(side)] for side in (first, name)))
    return found.differences[0].text() if found.differences else None


def _per_step(work: Work) -> Work:
    return Work(1.0 if work.env_steps else None, None, work.updates_per_env_step)


def _standing(settings: Sequence[Setting], best: str | None) -> Standing:
    verdicts = [setting.against_best for setting in settings if setting.against_best is not None]
    if best is None or not verdicts or "cannot-tell" in verdicts:
        return "cannot-tell"
    return "proven" if all(verdict == "slower" for verdict in verdicts) else "tie"


def _work_warnings(settings: Sequence[Setting], best: str | None) -> list[ComparisonWarning]:
    first = next((said(setting.values) for setting in settings if setting.runs), "")
    return [
        ComparisonWarning(
            "different-work",
            f"{said(setting.values)} does other work for an env step than {first} ({setting.other_work}): "
            "part of its speed may be that",
            "keep updates per env step as they were, or judge by what is learned in a given time",
        )
        for setting in settings
        if setting.name == best and setting.other_work is not None
    ]


def _unit_warnings(measured: _Measured) -> list[ComparisonWarning]:
    if len(measured.units) > 1:
        return [
            ComparisonWarning(
                "different-units",
                f"some runs are measured per {' and others per '.join(measured.units)}: "
                f"only those per {measured.per} are shown",
                'count env steps in all of them, with rlprof.count("env_steps", n)',
            )
        ]
    if measured.units and measured.per != "env step":
        return [
            ComparisonWarning(
                "no-env-steps",
                f"no env steps were counted, so that settings are compared per {measured.per}, however much that does",
                'count them where the program steps its environments: rlprof.count("env_steps", n)',
            )
        ]
    return []
