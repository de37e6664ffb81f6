"""What commands that run trials share: reading commands, a place for what is measured, and being ended in order."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rlprof.experiments.interruption import interruption
from rlprof.experiments.logbook import FILE, Logbook, NoExperiment
from rlprof.model.errors import BadOption
from rlprof.recording.place import RUNS_DIRECTORY

JournalType = TypeVar("JournalType", bound=Logbook[Any])


def free_directory(out: Path | None, kind: str) -> Path:
    """Where the trials of a new experiment go: the place that was named, or one of today's."""
    directory = out or Path(RUNS_DIRECTORY) / f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}"
    if (directory / FILE).exists():
        raise NoExperiment(f"{directory} holds an experiment already: --resume {directory}, or another --out")
    return directory


def begun(journal: JournalType) -> JournalType:
    """The same journal, now on disk."""
    try:
        journal.directory.mkdir(parents=True, exist_ok=True)
        journal.save()
    except OSError as error:
        raise BadOption(f"cannot write to {journal.directory}: {error.strerror or error}") from None
    return journal


def seed_by_chance() -> int:
    return time.time_ns() % 2**31


@contextlib.contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Whoever ends the experiment politely means its trial, too, and wants to keep what was measured."""

    def interrupt(*_: object) -> None:
        interruption.ask()
        raise KeyboardInterrupt

    interruption.forget()

    # A shell starts what runs in the background with SIGINT ignored; asked for by name, it counts all the same.
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def command_words(command: str, option: str) -> tuple[str, ...]:
    """A command in one text as the words behind `rlprof run`."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadOption(f"{option} cannot be split into words: {error}") from None
    return checked_words(words, option)


def checked_words(words: Sequence[str], option: str) -> tuple[str, ...]:
    """The words behind `rlprof run`; somebody may have put `python` in front."""
    words = list(words)
    if words and Path(words[0]).name in ("python", "python3", Path(sys.executable).name):
        words = words[1:]
    if not words:
        raise BadOption(f'{option} is empty; for example: {option} "train.py --turbo"')
    if words[0] != "-m" and not Path(words[0]).exists():
        raise BadOption(f"there is no script {words[0]} ({option}); for a module: {option} '-m {words[0]}'")
    return tuple(words)
