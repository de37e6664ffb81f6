"""petri's two engines by themselves: the same legal actions played with each, and nothing learned meanwhile."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .petri_env import PetriEnv


def legal_actions(steps: int) -> list[int]:
    """What a policy that draws among the legal actions does; an episode that ends begins anew."""
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

    def play() -> float:
        env = PetriEnv(turbo=turbo)
        env.reset(seed=0)
        begun = perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return perf_counter() - begun

    return play


def main() -> None:
    """Prints the seconds of each play as JSON, plain and turbo in turns."""
    parser = argparse.ArgumentParser(prog="petri_simulation", description="Play the net with both engines in turns.")
    parser.add_argument("--steps", type=int, default=2000, help="of each play [2000]")
    parser.add_argument("--rounds", type=int, default=7, help="plays with each engine [7]")
    options = parser.parse_args()
    actions = legal_actions(options.steps)
    plain, turbo = simulation(False, actions), simulation(True, actions)
    rounds = [(plain(), turbo()) for _ in range(options.rounds)]
    print(json.dumps({"steps": options.steps, "plain": [a for a, _ in rounds], "turbo": [b for _, b in rounds]}))


if __name__ == "__main__":
    main()
