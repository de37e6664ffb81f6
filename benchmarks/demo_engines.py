"""The demo programs: how much faster their quick forms are than their plain ones.

petri: both engines are played with the same legal actions, and nothing is learned meanwhile. snake: training to the
same number of finished games in the slow form and with every cure, and a short look at what each cure brings alone.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from measure import CannotMeasure, Result, Table, argument_parser, finish, new_result, run_script, say

from rlprof.experiments.pairs import interleave, ratios, spread

CURES = {
    "--push batched": ["--push", "batched"],
    "--flood-fill vectorised": ["--flood-fill", "vectorised"],
    "--train-steps 4": ["--train-steps", "4"],
    "--log none": ["--log", "none"],
}
EVERY_CURE = [word for words in CURES.values() for word in words]


def legal_actions(steps: int) -> list[int]:
    """What a policy that draws among the legal actions does; an episode that ends begins anew."""
    import numpy as np

    from rlprof.demos.petri_env import PetriEnv

    env, random, actions = PetriEnv(), np.random.default_rng(0), []
    observation, _ = env.reset(seed=0)
    for _ in range(steps):
        actions.append(int(random.choice(np.flatnonzero(observation["action_mask"]))))
        observation, _, terminated, truncated, _ = env.step(actions[-1])
        if terminated or truncated:
            observation, _ = env.reset()
    return actions


def simulation(turbo: bool, actions: list[int]) -> Callable[[], float]:
    """Seconds for one play of the actions."""
    from rlprof.demos.petri_env import PetriEnv

    env = PetriEnv(turbo=turbo)

    def play() -> float:
        env.reset(seed=0)
        start = perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return perf_counter() - start

    return play


def fill_petri(result: Result, rounds: int, steps: int) -> None:
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
        from rlprof.demos import snake

        self.snake: Any = snake
        self.words = ["--episodes", str(episodes), "--log-file", str(folder / "snake.log"), *words]
        self.rates: list[float] = []

    def __call__(self) -> float:
        quiet = io.StringIO()
        start = perf_counter()
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            done = self.snake.train(self.snake.parse(self.words))
        seconds = perf_counter() - start
        self.rates.append(done.steps / seconds)
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


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="times each engine is played (20; quick: 6)")
    parser.add_argument("--episodes", type=int, help="games that snake finishes (500; quick: 200)")
    args = parser.parse_args()
    result = new_result("Demo programs", args)
    try:
        fill_petri(result, args.rounds or (6 if args.quick else 20), 2000)
        fill_snake(result, 1 if args.quick else 3, args.episodes or (200 if args.quick else 500), 50)
    except ModuleNotFoundError as error:
        raise CannotMeasure(f"{error.name} is not installed: pip install 'rlprof[demos]'") from None
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
