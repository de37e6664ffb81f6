"""`rlprof run --tensorboard`, `--wandb`: shares of the phases and steps per second, logged while the program trains.

The logging libraries are loaded into rlprof's own process. Nothing of them comes into the program.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from rlprof.analyse.over_time import Moment
from rlprof.cli.companions import Companion
from rlprof.cli.look import Look
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.recording.place import target_of
from rlprof.render.scalars import EventFile, scalars_of, step_of

UNSETTLED_SECONDS: Final = 2.5


class _Logger(Companion):
    """Gives each slice of the run to a library once, in the order of time."""

    def __init__(self) -> None:
        self._given = 0

    def see(self, look: Look) -> None:
        # Whether env steps are counted shows with the first of them; what came before waits to know its place.
        if look.moments and look.moments[-1].sps is not None:
            self._give(look, _settled(look))

    def see_last(self, look: Look) -> None:
        self._give(look, look.moments)

    def _give(self, look: Look, moments: Sequence[Moment]) -> None:
        fresh = list(enumerate(moments))[self._given :]
        self._given += len(fresh)
        if fresh:
            self._log(look.recording.started, fresh)

    def _log(self, started: float, fresh: Sequence[tuple[int, Moment]]) -> None:
        raise NotImplementedError


def _settled(look: Look) -> Sequence[Moment]:
    """The moments about which nothing more will be written: workers write when it suits them, once a second."""
    if len(look.recording.processes) == 1:
        return look.moments
    end = look.moments[-1].end_s - UNSETTLED_SECONDS
    return [moment for moment in look.moments if moment.end_s <= end]


class TensorBoardLogger(_Logger):
    """An event file in a directory that TensorBoard looks at."""

    name = "TensorBoard file"

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._file: EventFile | None = None
        EventFile.check(folder)

    def begin(self, parts: Path) -> None:
        self._file = EventFile(self._folder)

    def _log(self, started: float, fresh: Sequence[tuple[int, Moment]]) -> None:
        assert self._file is not None
        for number, moment in fresh:
            self._file.add(started + moment.end_s, step_of(moment, number), scalars_of(moment))
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class WandbLogger(_Logger):
    """A run of its own at Weights & Biases, beside any that the program makes."""

    name = "logging to wandb"

    def __init__(self) -> None:
        super().__init__()
        self._run: Any = None
        self._failure: Exception | None = None
        self._starting: threading.Thread | None = None
        _check_wandb()

    def begin(self, parts: Path) -> None:
        # It may wait for a network for a minute, and others go along, too.
        self._starting = threading.Thread(target=self._start, args=(parts,), name="rlprof-wandb", daemon=True)
        self._starting.start()

    def see(self, look: Look) -> None:
        if self._starting is not None and not self._starting.is_alive():
            self._give_up_if_failed()
            super().see(look)

    def see_last(self, look: Look) -> None:
        if self._starting is not None:
            self._starting.join()
        self._give_up_if_failed()
        super().see_last(look)

    def _give_up_if_failed(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _start(self, parts: Path) -> None:
        try:
            self._init(parts)
        except Exception as error:
            self._failure = error

    def _init(self, parts: Path) -> None:
        import wandb

        # The program's own run may be named by WANDB_RUN_ID, WANDB_NAME and WANDB_RESUME: this one is another.
        # Nothing is taken from the terminal, and none of what the program prints is captured.
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT") or "rlprof",
            id=secrets.token_hex(4),
            name=clean_text(target_of(parts).stem, 100),
            job_type="rlprof",
            resume="never",
            settings=wandb.Settings(console="off", silent=True, x_disable_stats=True),
        )
        self._run.define_metric("rlprof/*", step_metric="rlprof/env_steps")
        place = self._run.dir if self._run.offline else self._run.url
        click.echo(f"rlprof: logging to wandb: {clean_text(str(place), 500)}", err=True)

    def _log(self, started: float, fresh: Sequence[tuple[int, Moment]]) -> None:
        for number, moment in fresh:
            self._run.log({**scalars_of(moment), "rlprof/env_steps": step_of(moment, number)})

    def close(self) -> None:
        if self._run is not None:
            self._run.finish()


#: wandb asks for a key on the terminal where it has none, and starts processes and threads when it is looked into:
#: so the question is put to another interpreter, which has no keyboard.
_IS_READY: Final = """
try:
    import wandb
except ImportError:
    raise SystemExit(3)
silent = wandb.setup().settings.mode in ("offline", "disabled", "dryrun")
raise SystemExit(0 if silent or wandb.login(verify=False) else 4)
"""


def _check_wandb() -> None:
    """Say now what would be in the way later."""
    asked = subprocess.run(
        [sys.executable, "-c", _IS_READY], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if asked.returncode == 3:
        raise BadOption("--wandb needs wandb, which is not installed: pip install 'rlprof[wandb]'")
    if asked.returncode != 0:
        raise BadOption("wandb cannot log in: give it a key with `wandb login`, or set WANDB_MODE=offline")
