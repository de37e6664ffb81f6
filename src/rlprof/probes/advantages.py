"""Functions and methods of the program whose name says that they compute advantages or returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.groups import ADVANTAGE
from rlprof.probes.guesses import list_inferred

NAMES: Final = (
    "gae", "compute_gae", "calculate_gae", "compute_advantage", "compute_advantages", "compute_returns",
    "compute_returns_and_advantage", "compute_returns_and_advantages", "compute_advantages_and_returns",
)  # fmt: skip

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy


def timed_advantage(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        listed = False

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal listed
            if compiling.is_compiling() or _is_busy(ADVANTAGE):
                return original(*args, **kwargs)
            if not listed:
                listed = True
                list_inferred(name, original, "advantage")
            with _guarded_span("advantage", "advantage", PROBE, ADVANTAGE):
                return original(*args, **kwargs)

        return call

    return wrap
