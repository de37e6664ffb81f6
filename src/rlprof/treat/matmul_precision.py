"""Faster, coarser products of float32 matrices, where the hardware has them."""

from __future__ import annotations

import functools
from typing import Any, Final

from rlprof.treat.arguments import one_of
from rlprof.treat.treatment import Kind, Scene


def apply(argument: str, scene: Scene) -> None:
    def treat(torch: Any) -> None:
        original = torch.set_float32_matmul_precision

        @functools.wraps(original)
        def set_precision(_: str) -> None:
            original(argument)

        original(argument)
        scene.patches.attribute(torch, "set_float32_matmul_precision", set_precision)  # the program may set its own
        scene.applied()

    scene.when_loaded("torch", treat)


KIND: Final = Kind(
    "matmul-precision",
    "matmul-precision=high|medium",
    "coarser float32 matrix products where the hardware has them",
    ("torch",),
    apply,
    lambda argument: f'torch.set_float32_matmul_precision("{argument}")',
    one_of("matmul-precision", ("high", "medium")),
    changes_results=True,
)
