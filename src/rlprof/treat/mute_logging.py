"""No logging: not to be kept, but to see what it costs."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Final

from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

PERMANENT: Final = "# for diagnosis only: log less often, or batch what is logged, where this shows a gain"


def apply(argument: str, scene: Scene) -> None:
    scene.waits("the program logs by nothing that is known here")
    _mute(logging.Logger, "_log", scene)
    scene.when_loaded("stable_baselines3.common.logger", lambda module: _mute(module.Logger, "dump", scene))
    scene.when_loaded("torch.utils.tensorboard.writer", lambda module: _mute_writer(module.SummaryWriter, scene))
    scene.when_loaded("tensorboardX.writer", lambda module: _mute_writer(module.SummaryWriter, scene))
    scene.when_loaded("wandb", lambda module: _mute(module, "log", scene))


def _mute_writer(writer: type, scene: Scene) -> None:
    for name in [name for name in vars(writer) if name.startswith("add_") or name == "flush"]:
        _mute(writer, name, scene)


def _mute(owner: Any, name: str, scene: Scene) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    @functools.wraps(original)
    def muted(*_: Any, **__: Any) -> None:
        scene.applied()

    scene.patches.attribute(owner, name, muted)


KIND: Final = Kind(
    "mute-logging",
    "mute-logging",
    "leave out logging, SB3's logger, TensorBoard and Weights & Biases",
    (),
    apply,
    always(PERMANENT),
    nothing("mute-logging"),
    changes_results=True,
    diagnosis_only=True,
)
