"""EnvPool: steps, split into handing over actions and waiting for the pool's own threads."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import count_from
from rlprof.probes.groups import ENV, EVALUATE, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches
from rlprof.record.wrap import outermost

LIBRARY: Final = "envpool"

_span = _core.span_of_kind
_is_busy = _core.is_busy


def _timed_send(original: Callable[..., Any]) -> Callable[..., Any]:
    def send(*args: Any, **kwargs: Any) -> Any:
        loop.env_step()
        with _span("env.ipc", "env.ipc", PROBE):
            return original(*args, **kwargs)

    return send


def _timed_receive(original: Callable[..., Any]) -> Callable[..., Any]:
    """Programs that send and receive by themselves never call `step`: steps are counted as they come in."""

    def recv(*args: Any, **kwargs: Any) -> Any:
        with _span("env.wait", "env.wait", PROBE):
            result = original(*args, **kwargs)
        if not _is_busy(RESET) and not _is_busy(EVALUATE):
            count_from(LIBRARY, _count_steps, result)
        return result

    return recv


def _count_steps(result: Any) -> None:
    reward = getattr(result, "reward", None)  # of dm_env's form, else gym's
    _core.infer_count("env_steps", len(result[1] if reward is None else reward))
    if len(result) == 5:
        ended = int((result[2] | result[3]).sum())
        if ended:
            _core.infer_count("episodes", ended)


def install(module: ModuleType, patches: Patches) -> None:
    """`envpool.python.envpool` is loaded."""
    pool: Any = module.EnvPoolMixin
    patches.method(pool, "step", outermost("env.step", "env.step", ENV))
    patches.method(pool, "reset", outermost("env.reset", "env.reset", RESET))
    patches.method(pool, "send", _timed_send)
    patches.method(pool, "recv", _timed_receive)


WATCHED: Final = {"envpool.python.envpool": install}
