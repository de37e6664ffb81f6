"""A loop that marks its environment, and does something else between two steps that nobody asked about."""

import time

from rlprof import count, iteration, profile


def step(state: int) -> int:
    with profile("env.step", phase="env.step"):
        for _ in range(12000):
            state = (state * 1103515245 + 12345) % 2147483648
    count("env_steps")
    return state


def statistics(history: list[int]) -> float:
    total = 0.0
    for value in history:
        total += (value % 1000) ** 0.5  # CAUSE
    return total


def main() -> None:
    state, history, steps = 1, [0] * 8000, 4000
    started = time.perf_counter()
    for number in range(steps):
        if number % 50 == 0:
            iteration()
        state = step(state)
        history[number % 8000] = state
        statistics(history)
    print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
