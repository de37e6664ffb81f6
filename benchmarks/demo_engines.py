"""The demo programs: how much faster their quick forms are than their plain ones.

petri: both engines are played with the same legal actions, and nothing is learned meanwhile. snake: training to the
same number of finished games in the slow form and with every cure, and a short look at what each cure brings alone.
cyber: both simulators with random actions and nothing learned, then training with environments in several places.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from measure import CannotMeasure, Result, Table, argument_parser, finish, new_result, run_script, say
from timed_training import train

from rlprof.experiments.pairs import interleave, ratios, spread

CURES = {
    "--push batched": ["--push", "batched"],
    "--flood-fill vectorised": ["--flood-fill", "vectorised"],
    "--train-steps 4": ["--train-steps", "4"],
    "--log none": ["--log", "none"],
}
#: Where cyber's environments may run, by the number of them.
PLACES = {
    "1 env": ["--envs", "1"],
    "200 envs, serial": ["--envs", "200"],
    "2 envs, subproc": ["--envs", "2", "--backend", "subproc"],
    "200 envs, subproc": ["--envs", "200", "--backend", "subproc"],
    "2 envs, async": ["--envs", "2", "--backend", "async"],
    "200 envs, async": ["--envs", "200", "--backend", "async"],
    "1 env, NumPy": ["--envs", "1", "--simulator", "numpy"],
    "200 envs, NumPy": ["--envs", "200", "--simulator", "numpy"],
}
MOST_SECONDS = 600.0  # of one training: the longest takes a few minutes on two cores that do nothing else
EVERY_CURE = [word for words in CURES.values() for word in words]


def fill_petri(result: Result, rounds: int, steps: int) -> None:
    from rlprof.demos.petri_simulation import legal_actions, simulation

    actions = legal_actions(steps)
    cases = {"plain": simulation(False, actions), "turbo": simulation(True, actions)}
    values = interleave(cases, rounds)
    rows = [(name, spread([steps / each for each in these]).text(0)) for name, these in values.items()]
    result.tables.append(Table(f"petri: simulation alone, {rounds} times {steps} steps", ("engine", "steps/s"), rows))
    faster = spread(ratios(values["plain"], values["turbo"]))
    result.check_at_least("petri: turbo engine against the plain one, simulation alone", faster, 1.8, "x")
    result.data["petri"] = values


class Snake:
    """One form of the program, trained from the start each time it is measured."""

    def __init__(self, folder: Path, episodes: int, *words: str) -> None:
        self.words = ["--episodes", str(episodes), "--log-file", str(folder / "snake.log"), *words]
        self.rates: list[float] = []

    def __call__(self) -> float:
        seconds, steps = train("rlprof.demos.snake", self.words, MOST_SECONDS)
        self.rates.append(steps / seconds)
        return seconds


def fill_snake(result: Result, rounds: int, episodes: int, short: int) -> None:
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as scratch:
        folder = Path(scratch)
        say(f"snake, {episodes} games, {rounds} times each form")
        whole = {"slow": Snake(folder, episodes), "every cure": Snake(folder, episodes, *EVERY_CURE)}
        seconds = interleave(whole, rounds)
        say(f"snake, {short} games, each cure by itself")
        single = {"slow": Snake(folder, short), **{name: Snake(folder, short, *words) for name, words in CURES.items()}}
        interleave(single, rounds)
    rows = [
        (name, spread(seconds[name]).text(1, " s"), spread(form.rates).text(0), spread(
            [after / before for after, before in zip(form.rates, whole["slow"].rates, strict=True)]).text(1, "x"))
        for name, form in whole.items()
    ]  # fmt: skip
    columns = ("form", "time", "env steps/s", "against the slow form")
    result.tables.append(Table(f"snake: {episodes} finished games, {rounds} times", columns, rows))
    alone = [
        (name, spread(form.rates).text(0), spread(ratios(form.rates, single["slow"].rates)).text(2, "x"))
        for name, form in single.items()
    ]
    result.tables.append(
        Table(f"snake: each cure by itself, {short} finished games", ("cure", "env steps/s", "times as fast"), alone)
    )
    faster = spread(ratios(seconds["slow"], seconds["every cure"]))
    result.check_at_least("snake: every cure against the slow form, end to end", faster, 10, "x")
    result.data["snake"] = seconds


def objects(steps: int) -> Callable[[], float]:
    """Seconds for a transition of the network of objects."""
    import numpy as np

    from rlprof.demos.cyber_env import ACTIONS, CyberEnv

    env, actions = CyberEnv(), np.random.default_rng(0).integers(ACTIONS, size=steps).tolist()

    def play() -> float:
        env.reset(seed=0)
        start = perf_counter()
        for action in actions:
            if env.step(action)[3]:
                env.reset()
        return (perf_counter() - start) / steps

    return play


def arrays(envs: int, steps: int) -> Callable[[], float]:
    """Seconds for a transition of networks in arrays, so many at once."""
    import numpy as np

    from rlprof.demos.cyber_env import ACTIONS
    from rlprof.demos.cyber_numpy import CyberVector

    vector, actions = CyberVector(envs), np.random.default_rng(0).integers(ACTIONS, size=(steps, envs))

    def play() -> float:
        vector.reset(seed=0)
        start = perf_counter()
        for chosen in actions:
            vector.step(chosen)
        return (perf_counter() - start) / (steps * envs)

    return play


def training(words: list[str], steps: int) -> Callable[[], float]:
    """Seconds for a transition of training. A run of one batch is taken off: it has the same start and end."""

    def learn() -> float:
        say(" ".join(words))
        short, few = train("rlprof.demos.cyber", [*words, "--steps", "1"], MOST_SECONDS)
        long, many = train("rlprof.demos.cyber", [*words, "--steps", str(steps)], MOST_SECONDS)
        return (long - short) / (many - few)

    return learn


def fill_cyber(result: Result, rounds: int, steps: int) -> None:
    values = interleave(
        {"objects": objects(500), **{f"arrays, {envs} at once": arrays(envs, 200) for envs in (1, 20, 200)}}, rounds
    )
    rows = [
        (name, spread([1 / each for each in these]).text(0), spread(ratios(values["objects"], these)).text(1, "x"))
        for name, these in values.items()
    ]
    columns = ("simulator", "transitions/s", "times as fast")
    result.tables.append(Table(f"cyber: simulation alone, {rounds} times", columns, rows))
    faster = spread(ratios(values["objects"], values["arrays, 200 at once"]))
    result.check_at_least("cyber: NumPy simulator (200 at once) against the Python one", faster, 5, "x")
    say(f"cyber, training for {steps} transitions with environments in several places")
    times = interleave({name: training(words, steps) for name, words in PLACES.items()}, 1 if rounds < 10 else 3)
    trained = [
        (name, spread([1 / each for each in these]).text(0), spread(ratios(times["1 env"], these)).text(2, "x"))
        for name, these in times.items()
    ]
    columns = ("environments", "transitions/s", "times as fast")
    result.tables.append(Table(f"cyber: training for {steps} transitions, without start and end", columns, trained))
    result.data["cyber"] = {"simulation": values, "training": times}


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="times each engine is played (20; quick: 6)")
    parser.add_argument("--only", choices=("petri", "snake", "cyber"), help="one of the programs (all)")
    parser.add_argument("--episodes", type=int, help="games that snake finishes (500; quick: 200)")
    args = parser.parse_args()
    result = new_result("Demo programs", args)
    try:
        rounds = args.rounds or (6 if args.quick else 20)
        if args.only in (None, "petri"):
            fill_petri(result, rounds, 2000)
        if args.only in (None, "cyber"):
            fill_cyber(result, rounds, 8000 if args.quick else 20000)
        if args.only in (None, "snake"):
            fill_snake(result, 1 if args.quick else 3, args.episodes or (200 if args.quick else 500), 50)
    except ModuleNotFoundError as error:
        raise CannotMeasure(f"{error.name} is not installed: pip install 'rlprof[demos]'") from None
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
