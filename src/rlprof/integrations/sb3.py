"""A callback for Stable-Baselines3: `model.learn(n, callback=RlprofCallback("run.rlprof"))`."""

from __future__ import annotations

import os
from pathlib import Path

from stable_baselines3.common.callbacks import BaseCallback

from rlprof import count
from rlprof.integrations.own_recording import OwnRecording, turn


class RlprofCallback(BaseCallback):  # type: ignore[misc]
    """Records from the start of training to its end; `recording` is the finished file then."""

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        probes: bool = True,
        overwrite: bool = False,
        verbose: int = 0,
    ) -> None:
        super().__init__(verbose)
        self.recording: Path | None = None
        self._own = OwnRecording(path, probes, overwrite)
        self._counts = False
        self._counted = 0

    def _on_training_start(self) -> None:
        self._counts = not self._own.start()
        self._counted = self.num_timesteps

    def _on_rollout_start(self) -> None:
        turn()

    def _on_step(self) -> bool:
        if self._counts:
            count("env_steps", self.num_timesteps - self._counted)
            self._counted = self.num_timesteps
        return True

    def _on_training_end(self) -> None:
        turn()
        self.recording = self._own.stop() or self.recording
