"""Everything that start-up has built leaves the garbage collector's sight, and collections come less often."""

from __future__ import annotations

import gc
import sys
from typing import Any, Final

from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

THRESHOLDS: Final = (50_000, 20, 50)

PERMANENT: Final = f"""\
import gc
gc.collect(); gc.freeze(); gc.set_threshold{THRESHOLDS}  # once all is built, before the training loop"""


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch", lambda _: _treat(scene))


def _treat(scene: Scene) -> None:
    """Start-up is over with the first step of an optimizer."""
    scene.waits("no optimizer of torch has stepped")
    hooks: Any = sys.modules["torch.optim.optimizer"]  # the package hides it behind its own name

    over = False

    def stepped(*_: Any) -> None:
        nonlocal over
        if over:  # the hooks are gone through right now, so that none can be taken away
            return
        over = True
        gc.collect()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        scene.applied()

    scene.patches.on_undo(hooks.register_optimizer_step_post_hook(stepped).remove)


KIND: Final = Kind(
    "gc-freeze",
    "gc-freeze",
    "freeze what start-up has built and collect garbage less often",
    ("torch",),
    apply,
    always(PERMANENT),
    nothing("gc-freeze"),
)
