"""EnvPool: steps, split into handing over actions and waiting for the pool's own threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.counting import count_from
from rlprof.probes.groups import ENV, EVALUATE, RESET
from rlprof.probes.loop import loop
from rlprof.probes.patching import Patches, is_patched
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

    def recv(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _span("env.wait", "env.wait", PROBE):
            result = original(self, *args, **kwargs)
        if not _is_busy(RESET) and not _is_busy(EVALUATE):
            if own.stepping or not _is_busy(ENV):
                count_from(LIBRARY, _count_steps, result, 0)
            elif _is_in_single_step(self, sys._getframe(1)):
                count_from(LIBRARY, _count_steps, result, 1)
        return result

    return recv


class Own(threading.local):
    """Whether the step of a pool is the outermost one of this thread."""

    stepping = False


own = Own()


def _timed_step(original: Callable[..., Any]) -> Callable[..., Any]:
    outer = outermost("env.step", "env.step", ENV)(original)

    def step(*args: Any, **kwargs: Any) -> Any:
        if _is_busy(ENV):
            return original(*args, **kwargs)
        own.stepping = True
        try:
            return outer(*args, **kwargs)
        finally:
            own.stepping = False

    return step


def _is_in_single_step(pool: Any, frame: FrameType | None) -> bool:
    """Whether the outermost step that is under way is that of a plain wrapper of gymnasium, and counts as one.

    Vector environments of whatever library know how many they are, and count them all.
    """
    gymnasium: Any = sys.modules.get("gymnasium")
    single = False
    while frame is not None and gymnasium is not None:
        code = frame.f_code
        if code.co_name == "step" and code.co_argcount:
            stepped = frame.f_locals.get(code.co_varnames[0])
            if stepped is not pool and _is_watched(type(stepped)):
                single = isinstance(stepped, gymnasium.Env) and not isinstance(stepped, gymnasium.vector.VectorEnv)
        frame = frame.f_back
    return single


def _is_watched(cls: type) -> bool:
    return any(is_patched(vars(base).get("step")) for base in cls.__mro__)


def _count_steps(result: Any, counted: int) -> None:
    """`counted` of them are counted by somebody else."""
    reward = getattr(result, "reward", None)  # of dm_env's form, else gym's
    _core.infer_count("env_steps", len(result[1] if reward is None else reward) - counted)
    if len(result) == 5:
        ended = int((result[2] | result[3]).sum())
        if ended:
            _core.infer_count("episodes", ended)


def install(module: ModuleType, patches: Patches) -> None:
    """`envpool.python.envpool` is loaded."""
    pool: Any = module.EnvPoolMixin
    patches.method(pool, "step", _timed_step)
    patches.method(pool, "reset", outermost("env.reset", "env.reset", RESET))
    patches.method(pool, "send", _timed_send)
    patches.method(pool, "recv", _timed_receive)


WATCHED: Final = {"envpool.python.envpool": install}
