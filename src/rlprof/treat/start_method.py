"""How multiprocessing starts workers, whatever the program or its libraries ask for."""

from __future__ import annotations

import functools
import sys
from typing import Any, Final

from rlprof.treat.arguments import one_of
from rlprof.treat.treatment import Kind, Scene

METHODS: Final = ("fork", "spawn", "forkserver")


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("multiprocessing", lambda module: _treat(module, argument, scene))


def _treat(multiprocessing: Any, method: str, scene: Scene) -> None:
    context: Any = sys.modules["multiprocessing.context"]
    if method not in multiprocessing.get_all_start_methods():
        scene.refuse(f"this system has no start method {method}")
        return
    scene.waits("the program starts no workers by multiprocessing")
    default, original = context._default_context, context.DefaultContext.get_context
    chosen = original(default, method)

    @functools.wraps(original)
    def get_context(*_: Any, **__: Any) -> Any:
        scene.applied()
        return chosen

    def set_start_method(*_: Any, **__: Any) -> None:
        """The program's own choice, which gives way."""

    default.set_start_method(method, force=True)
    scene.patches.attribute(context.DefaultContext, "get_context", get_context)
    scene.patches.attribute(context.DefaultContext, "set_start_method", set_start_method)
    scene.patches.attribute(multiprocessing, "get_context", get_context)
    scene.patches.attribute(multiprocessing, "set_start_method", set_start_method)


KIND: Final = Kind(
    "start-method",
    "start-method=fork|spawn|forkserver",
    "start workers of multiprocessing this way",
    ("multiprocessing",),
    apply,
    lambda argument: (
        f'multiprocessing.set_start_method("{argument}")  # under `if __name__ == "__main__":`\n'
        f'# SubprocVecEnv(env_fns, start_method="{argument}"), AsyncVectorEnv(env_fns, context="{argument}")'
    ),
    one_of("start-method", METHODS),
)
