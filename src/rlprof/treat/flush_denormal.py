"""Numbers too small for full precision count as zero: processors take long for them."""

from __future__ import annotations

from typing import Any, Final

from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

PERMANENT: Final = "torch.set_flush_denormal(True)  # once, in the thread that trains"


def apply(argument: str, scene: Scene) -> None:
    def treat(torch: Any) -> None:
        if torch.set_flush_denormal(True):
            scene.applied()
        else:
            scene.refuse("this processor cannot do it")

    scene.when_loaded("torch", treat)


KIND: Final = Kind(
    "flush-denormal",
    "flush-denormal",
    "numbers below 1e-38 count as zero",
    ("torch",),
    apply,
    always(PERMANENT),
    nothing("flush-denormal"),
    changes_results=True,
)
