"""Do the statistics of `rlprof sweep` hold? Tried many times on a machine made of numbers.

The laws are known, the noise is what compare_statistics.py describes. Looked at are how often the interval of each of
the law's numbers holds the true one, how often one of several equal settings is called slower than another, and how
often a setting that is faster comes first and is proven to be.
"""

from __future__ import annotations

import math

import numpy as np
from measure import Result, Table, argument_parser, finish, new_result, run_script, say
from numpy.typing import NDArray

from rlprof.experiments.scaling import Coefficients, Point, fit_law
from rlprof.experiments.simulated_machine import BUSY, CALM, USUAL, Noise, log_times
from rlprof.experiments.statistics import centre_of
from rlprof.experiments.sweep_result import level_among

MACHINES: dict[str, Noise] = {"calm": CALM, "usual": USUAL, "busy": BUSY}
LAWS = {
    "linear": Coefficients(100, 0.0, 0.0),
    "levels off": Coefficients(100, 0.2, 0.0),
    "rises, then falls": Coefficients(100, 0.05, 0.001),
    "mostly serial": Coefficients(500, 0.6, 0.002),
}
NUMBERS = (1, 2, 4, 8, 16, 32)
SETTINGS = 8
SEED = 5


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def swept(noise: Noise, rounds: int, settings: int, source: np.random.Generator) -> NDArray[np.float64]:
    """Log times of equal settings, a row for each round, after a warm-up. Each round has an order by chance."""
    times = log_times(noise, rounds * settings + 1, source)[1:].reshape(rounds, settings)
    return np.stack([source.permutation(row) for row in times])


def laws_table(result: Result, times: int) -> Table:
    rows = []
    for machine, noise in MACHINES.items():
        for name, truth in LAWS.items():
            source = np.random.default_rng(SEED)
            held, told = np.zeros(3), 0
            for _ in range(times):
                law = fit_law(_points(truth, swept(noise, 3, len(NUMBERS), source)))
                if law.rate_of_one is None or law.serial is None or law.coherency is None:
                    continue
                told += 1
                pairs = zip(
                    (law.rate_of_one, law.serial, law.coherency),
                    (truth.rate_of_one, truth.serial, truth.coherency),
                    strict=True,
                )
                held += [estimate.low <= value <= estimate.high for estimate, value in pairs]
            rows.append((machine, name, percent(told / times), *(percent(share) for share in held / max(told, 1))))
            if machine == "calm":
                worst = 100 * float(held.min()) / max(told, 1)
                result.check_at_least(f"calm machine, {name}: intervals that hold the truth, of 100", worst, 93)
    columns = ("machine", "law", "told at all", "rate of one holds", "serial holds", "coherency holds")
    return Table(f"The law from {len(NUMBERS)} numbers, 3 rounds", columns, rows)


def _points(truth: Coefficients, log_noise: NDArray[np.float64]) -> list[Point]:
    points = []
    for at, n in enumerate(NUMBERS):
        centre = centre_of((math.log(truth.rate(n)) - log_noise[:, at]).tolist())
        points.append(Point(n, math.exp(centre.mean), centre.error, centre.df))
    return points


def best_table(result: Result, times: int) -> Table:
    rows = []
    for machine, noise in MACHINES.items():
        for gain in (0.0, 0.1, 0.3):
            source = np.random.default_rng(SEED)
            chosen = alarms = proven = 0
            for _ in range(times):
                found = swept(noise, 10, SETTINGS, source)
                found[:, 0] -= math.log1p(gain)
                best, slower = judged(found)
                chosen += best == 0
                alarms += best != 0 and slower[0] if gain else any(slower)
                proven += all(slower[at] for at in range(SETTINGS) if at != best)
            rows.append((machine, f"+{gain:.0%}", percent(chosen / times), percent(proven / times)))
            if not gain:
                result.check_at_most(
                    f"{machine} machine: alarms in 200 sweeps of equal settings", 200 * alarms / times, 15
                )
    columns = ("machine", "the first setting is faster by", "it came first", "some setting called proven best")
    return Table(f"{SETTINGS} settings, 10 rounds", columns, rows)


def judged(log_seconds: NDArray[np.float64]) -> tuple[int, list[bool]]:
    """The fastest, and for each whether it is called slower than that."""
    means = [centre_of((-column).tolist()).mean for column in log_seconds.T]
    best = int(np.argmax(means))
    level = level_among(SETTINGS)
    slower = []
    for at in range(SETTINGS):
        ratios = (log_seconds[:, best] - log_seconds[:, at]).tolist()
        slower.append(at != best and centre_of(ratios).interval(level)[1] < 0)
    return best, slower


def main() -> int:
    args = argument_parser(__doc__).parse_args()
    result = new_result("The statistics of sweep", args)
    times = 150 if args.quick else 1000
    say("laws ...")
    result.tables.append(laws_table(result, times))
    say("the best ...")
    result.tables.append(best_table(result, 2 * times))
    result.notes.append(f"{times} sweeps for each figure about laws, {2 * times} about the best.")
    result.notes.append(
        "A machine that drifts has another speed in every session, which the rate of one follows: its interval is "
        "about the session. Serial part and coherency are ratios, and hold on every machine."
    )
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
