"""A fingerprint of what was learned, so that two runs can be told to have come to the same weights, bit by bit."""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
from typing import Any, Final

from rlprof.record.noted import note
from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

FACT: Final = "fingerprint"
#: Optimizers that are kept until the end of the program, and their parameters with them.
MOST_KEPT: Final = 16


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch", lambda torch: _treat(torch, scene))


def _treat(torch: Any, scene: Scene) -> None:
    scene.waits("no optimizer of torch has stepped")
    hooks: Any = sys.modules["torch.optim.optimizer"]  # the package hides it behind its own name
    kept: dict[int, Any] = {}
    process = os.getpid()

    def stepped(optimizer: Any, *_: Any) -> None:
        if id(optimizer) not in kept and len(kept) < MOST_KEPT:
            kept[id(optimizer)] = optimizer
            scene.applied()

    def ended() -> None:
        try:
            if kept and os.getpid() == process:
                note(FACT, {"weights": _digest(torch, list(kept.values())), "optimizers": len(kept)})
        except Exception as error:
            scene.refuse(f"the weights cannot be read: {error!r}")

    scene.patches.on_undo(hooks.register_optimizer_step_post_hook(stepped).remove)
    scene.patches.on_undo(lambda: atexit.unregister(ended))
    atexit.register(ended)  # later than the recording's own end was, and so called earlier


def _digest(torch: Any, optimizers: list[Any]) -> str:
    digest = hashlib.sha256()
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            for weights in group["params"]:
                flat = weights.detach().cpu().contiguous().reshape(-1)
                digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


KIND: Final = Kind(
    "fingerprint",
    "fingerprint",
    "change nothing, but note a fingerprint of the weights at the end",
    ("torch",),
    apply,
    always("# nothing to make permanent"),
    nothing("fingerprint"),
    diagnosis_only=True,
)
