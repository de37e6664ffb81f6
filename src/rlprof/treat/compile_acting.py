"""`torch.compile` of the module that acts."""

from __future__ import annotations

import weakref
from typing import Any, Final

from rlprof.treat.acting import Function, treat_acting
from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

PERMANENT: Final = """\
policy = torch.compile(policy)  # the module that acts; for learning, go on with the one that was not compiled"""


class _Compiled:
    """What was compiled, by module and name. It is made anew where a class of the script's travels with its methods."""

    def __init__(self) -> None:
        self._by_module: weakref.WeakKeyDictionary[Any, dict[str, Function]] = weakref.WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Compiled, ()

    def of(self, module: Any) -> dict[str, Function]:
        return self._by_module.setdefault(module, {})


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch", lambda torch: _treat(torch, scene))


def _treat(torch: Any, scene: Scene) -> None:
    scene.waits("no module was called without gradients outside of learning")
    compiled = _Compiled()
    failed = False

    def act(original: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal failed
        if failed or not args:
            return original(*args, **kwargs)
        module, name = args[0], original.__name__
        known = compiled.of(module)
        first = name not in known
        try:
            if first:
                known[name] = torch.compile(module if name == "__call__" else original.__get__(module))
            result = known[name](*args[1:], **kwargs)
        except Exception as error:
            if not first:
                raise
            failed = True
            scene.refuse(f"torch cannot compile {type(module).__name__}: {type(error).__name__}")
            return original(*args, **kwargs)
        scene.applied()
        return result

    treat_acting(torch, scene.patches, act)


KIND: Final = Kind(
    "compile-acting",
    "compile-acting",
    "compile the module that acts; its rounding may differ, and with it the actions drawn",
    ("torch",),
    apply,
    always(PERMANENT),
    nothing("compile-acting"),
    changes_results=True,
)
