"""Vector environments in this process instead of in workers, and the other way round."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

SB3: Final = "stable_baselines3.common.vec_env"
GYMNASIUM: Final = "gymnasium.vector"
_LIBRARIES: Final = ("stable_baselines3", "gymnasium")

SERIAL: Final = """\
env = DummyVecEnv(env_fns)     # Stable-Baselines3, instead of SubprocVecEnv(env_fns)
envs = SyncVectorEnv(env_fns)  # gymnasium, instead of AsyncVectorEnv(env_fns)"""
SUBPROC: Final = """\
env = SubprocVecEnv(env_fns, start_method="fork")  # Stable-Baselines3, instead of DummyVecEnv(env_fns)
envs = AsyncVectorEnv(env_fns, context="fork")     # gymnasium, instead of SyncVectorEnv(env_fns)"""


#: By the module that offers both: the class that is asked for, the one that is given, and what it is given besides.
Swaps = dict[str, tuple[str, str, dict[str, Any]]]


def make_serial(argument: str, scene: Scene) -> None:
    swaps: Swaps = {
        SB3: ("SubprocVecEnv", "DummyVecEnv", {}),
        GYMNASIUM: ("AsyncVectorEnv", "SyncVectorEnv", {}),
    }
    _exchange(swaps, 1, scene, "no environments were put into workers (SubprocVecEnv, AsyncVectorEnv)")


def make_subproc(argument: str, scene: Scene) -> None:
    swaps: Swaps = {
        SB3: ("DummyVecEnv", "SubprocVecEnv", {"start_method": "fork"}),
        GYMNASIUM: ("SyncVectorEnv", "AsyncVectorEnv", {"context": "fork"}),
    }
    _exchange(swaps, 2, scene, "no two environments were stepped one after the other (DummyVecEnv, SyncVectorEnv)")


def _exchange(swaps: Swaps, fewest: int, scene: Scene, reason: str) -> None:
    def loaded(module: Any, asked: str, given: str, added: dict[str, Any]) -> None:
        _swap(getattr(module, asked), getattr(module, given), added, fewest, scene)
        scene.waits(reason)

    for library, (asked, given, added) in swaps.items():
        scene.when_loaded(library, partial(loaded, asked=asked, given=given, added=added))


def _swap(asked: Any, given: Any, added: dict[str, Any], fewest: int, scene: Scene) -> None:
    """Whoever builds `asked` gets `given`; not who derives from it, or gives it something only it understands."""
    builds = asked.__new__
    understood = set(inspect.signature(given.__init__).parameters)
    dropped = {"start_method", "context", "shared_memory", "daemon"}

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        env_fns: Sequence[Callable[[], Any]] | None = args[0] if args else kwargs.get("env_fns")
        kept = {name: value for name, value in kwargs.items() if name in understood}
        lost = {name for name, value in kwargs.items() if name not in understood and value is not None} - dropped
        if cls is not asked or env_fns is None or len(env_fns) < fewest:
            return object.__new__(cls) if builds is object.__new__ else builds(cls)
        if len(args) > 1 or lost:
            scene.refuse(f"{asked.__name__} is built with {', '.join(sorted(lost)) or 'positions'} of its own")
            return object.__new__(cls)
        made = given(*args, **{**added, **kept})
        scene.applied()
        return made

    scene.patches.attribute(asked, "__new__", staticmethod(new))


SERIAL_KIND: Final = Kind(
    "serial-vecenv",
    "serial-vecenv",
    "step environments one after the other instead of in workers",
    _LIBRARIES,
    make_serial,
    always(SERIAL),
    nothing("serial-vecenv"),
)
SUBPROC_KIND: Final = Kind(
    "subproc-vecenv",
    "subproc-vecenv",
    "step environments in workers instead of one after the other",
    _LIBRARIES,
    make_subproc,
    always(SUBPROC),
    nothing("subproc-vecenv"),
)
