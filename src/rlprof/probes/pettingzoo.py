"""PettingZoo: steps and resets of environments with many agents, taking turns or acting at once."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.groups import ENV, EVALUATE, RENDER, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.probes.subclasses import follow_subclasses
from rlprof.record.wrap import outermost

LIBRARY: Final = "pettingzoo"

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_count = _core.infer_count


def _timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    """One call is one env step, whether one agent moves or all do. An agent that is dead moves with None."""

    def step(self: Any, action: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_busy(ENV):
            return original(self, action, *args, **kwargs)
        loop.env_step()
        with _guarded_span("env.step", "env.step", PROBE, ENV):
            result = original(self, action, *args, **kwargs)
        if not _is_busy(EVALUATE):
            if action is not None:
                _count("env_steps")
            if not getattr(self, "agents", True):  # the last one has left
                _count("episodes")
        return result

    return step


def install(module: ModuleType, patches: Patches) -> None:
    """`pettingzoo.utils.env` is loaded: its two kinds of environment, and every one defined from now on."""
    methods = {
        "step": _timed_step,
        "reset": outermost("env.reset", "env.reset", RESET),
        "render": outermost("env.render", "env.render", RENDER),
    }
    follow_subclasses(module.ParallelEnv, methods, patches)
    # What an agent sees when it is its turn is computed when it is asked for.
    follow_subclasses(module.AECEnv, methods | {"last": outermost("env.last", "env.step", ENV)}, patches)


WATCHED: Final = {"pettingzoo.utils.env": install}
