"""A loop that marks its environment."""

import time

from rlprof import count, iteration, profile


def step(state: int) -> int:
    with profile("env.step", phase="env.step"):
        for _ in range(12000):
            state = (state * 1103515245 + 12345) % 2147483648
    count("env_steps")
    return state


def main() -> None:
    state, steps = 1, 4000
    started = time.perf_counter()
    for number in range(steps):
        if number % 50 == 0:
            iteration()
        state = step(state)
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
