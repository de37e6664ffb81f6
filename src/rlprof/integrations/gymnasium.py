"""A wrapper for one gymnasium environment, for recordings without probes: `env = ProfiledEnv(env)`."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium

from rlprof.probes.groups import RENDER
from rlprof.probes.gymnasium import timed_reset, timed_step
from rlprof.record.wrap import Wrap, outermost


def _as(wrap: Wrap) -> Wrap:
    return lambda method: functools.wraps(method)(wrap(method))


class ProfiledEnv(gymnasium.Wrapper[Any, Any, Any, Any]):  # type: ignore[misc]
    """Times `step`, `reset` and `render`, counts steps, episodes and returns. Where probes do so, it adds nothing."""

    @_as(timed_step)
    def step(self, action: Any) -> Any:
        return self.env.step(action)

    @_as(timed_reset)
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return self.env.reset(seed=seed, options=options)

    @_as(outermost("env.render", "env.render", RENDER))
    def render(self) -> Any:
        return self.env.render()
