"""Hooks for TorchRL's trainer: `profile_trainer(trainer, "run.rlprof")` before `trainer.train()`."""

from __future__ import annotations

import os
from typing import Any

from rlprof import count
from rlprof.integrations.own_recording import OwnRecording, turn


def profile_trainer(
    trainer: Any, path: str | os.PathLike[str] | None = None, *, probes: bool = True, overwrite: bool = False
) -> None:
    """Record `trainer.train()` from its setup to its shutdown, and count its batches as iterations."""
    own = OwnRecording(path, probes, overwrite)

    def begin() -> None:
        own.start()
        turn()

    def collected(batch: Any) -> None:
        count("env_steps", batch.numel())

    def end() -> None:
        own.stop()

    trainer.register_op("setup", begin)
    trainer.register_op("batch_process", collected)
    trainer.register_op("post_steps", turn)
    trainer.register_op("shutdown", end)
