"""What a training logger gets: shares of the phases and steps per second, a few numbers for each slice of time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from rlprof.analyse.over_time import Moment, moments
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording

SPEED: Final = "rlprof/env_steps_per_second"
SHARE: Final = "rlprof/share/"


def scalars_of(moment: Moment) -> dict[str, float]:
    """The numbers of one slice by their names."""
    values = {clean_text(f"{SHARE}{phase}", 200): share for phase, share in moment.shares.items()}
    if moment.sps is not None:
        values[SPEED] = moment.sps
    return values


class EventFile:
    """An event file for TensorBoard, written bit by bit."""

    def __init__(self, folder: Path) -> None:
        self._event, self._summary, writer = _tensorboard()
        self._writer = writer(str(folder))

    @staticmethod
    def check(folder: Path) -> None:
        """Say now what would be in the way later."""
        _tensorboard()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadOption(f"cannot write to {clean_text(str(folder))}: {error.strerror or error}") from None
        if not os.access(folder, os.W_OK):
            raise BadOption(f"cannot write to {clean_text(str(folder))}: choose another directory")

    def add(self, wall_time: float, step: int, values: dict[str, float]) -> None:
        """The numbers of one slice, over env steps."""
        summary = self._summary(value=[self._summary.Value(tag=tag, simple_value=v) for tag, v in values.items()])
        self._writer.add_event(self._event(wall_time=wall_time, step=step, summary=summary))

    def flush(self) -> None:
        """What was added can be read from now on."""
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _tensorboard() -> tuple[Any, Any, Any]:
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError:
        raise BadOption(
            "TensorBoard's files need tensorboard, which is not installed: pip install 'rlprof[tensorboard]'"
        ) from None
    return Event, Summary, EventFileWriter


def write_tensorboard(recording: Recording, folder: Path) -> None:
    """All of a recording in an event file."""
    file = EventFile(folder)
    try:
        for number, moment in enumerate(moments(recording)):
            file.add(recording.started + moment.end_s, step_of(moment, number), scalars_of(moment))
    finally:
        file.close()


def step_of(moment: Moment, number: int) -> int:
    """Where a slice stands: at its env steps; where none are counted, the slices themselves are."""
    return int(moment.env_steps) if moment.sps is not None else number
