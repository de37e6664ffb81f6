"""Timers placed by hand: exclusive nanoseconds by phase. What is begun inside another stops the outer one's time."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from time import perf_counter_ns
from typing import Any

import gymnasium as gym


class Clock:
    def __init__(self) -> None:
        self.spent: dict[str, int] = {}
        self._open: list[str] = []
        self._since = 0

    def begin(self, phase: str) -> None:
        now = perf_counter_ns()
        if self._open:
            outer = self._open[-1]
            self.spent[outer] = self.spent.get(outer, 0) + now - self._since
        self._open.append(phase)
        self._since = now

    def end(self) -> None:
        now = perf_counter_ns()
        phase = self._open.pop()
        self.spent[phase] = self.spent.get(phase, 0) + now - self._since
        self._since = now

    def timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with a timer around every call, for what a program cannot reach into otherwise."""

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            self.begin(phase)
            try:
                return function(*args, **kwargs)
            finally:
                self.end()

        return call

    def with_timed_reset(self, make: Callable[[], Any]) -> Callable[[], Any]:
        """Makes the same environment, with a timer for its resets."""
        return lambda: TimedReset(make())

    def time_collections(self) -> None:
        """Garbage is collected wherever the interpreter likes, in the middle of any phase."""
        gc.callbacks.append(lambda phase, _: self.begin("gc") if phase == "start" else self.end())


clock = Clock()


class TimedReset(gym.Wrapper):  # type: ignore[misc]
    """Vector environments reset theirs inside of a step."""

    def reset(self, **kwargs: Any) -> Any:
        clock.begin("env.reset")
        try:
            return super().reset(**kwargs)
        finally:
            clock.end()
