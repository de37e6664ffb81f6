"""The implementation that torch's optimizers step by."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from rlprof.treat.arguments import one_of
from rlprof.treat.treatment import Kind, Scene

CHOICES: Final = ("fused", "foreach")


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch", lambda torch: _treat(torch, argument, scene))


def _treat(torch: Any, choice: str, scene: Scene) -> None:
    scene.waits(f"no optimizer was built that can be {choice}")
    for cls in _classes(torch):
        if choice in inspect.signature(cls.__init__).parameters:
            scene.patches.attribute(cls, "__init__", _choosing(cls.__init__, choice, scene))


def _classes(torch: Any) -> list[Any]:
    found = [value for value in vars(torch.optim).values() if isinstance(value, type)]
    return list(dict.fromkeys(cls for cls in found if "__init__" in vars(cls)))


def _choosing(original: Callable[..., Any], choice: str, scene: Scene) -> Callable[..., Any]:
    parameters = inspect.signature(original).parameters
    by_position = [p.name for p in parameters.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY]

    @functools.wraps(original)
    def build(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        chosen = {*by_position[: 2 + len(args)], *(name for name in CHOICES if kwargs.get(name) is not None)}
        if chosen & set(CHOICES):  # the program has chosen itself
            original(self, params, *args, **kwargs)
            return
        groups = list(params)  # a generator would be empty at the second attempt
        try:
            original(self, groups, *args, **{**kwargs, choice: True})
        except Exception as error:
            scene.refuse(f"{type(self).__name__} cannot be {choice} here: {error}")
            original(self, groups, *args, **kwargs)
        else:
            scene.applied()

    return build


KIND: Final = Kind(
    "optimizer",
    "optimizer=fused|foreach",
    "step torch's optimizers by their fused or foreach implementation, which may round differently",
    ("torch",),
    apply,
    lambda argument: f"optimizer = torch.optim.Adam(model.parameters(), {argument}=True)  # and what else you give it",
    one_of("optimizer", CHOICES),
    changes_results=True,
)
