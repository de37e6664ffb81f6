"""What is known about a run as a whole, beside its parts: the command, and how it ended."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rlprof.model.recording import Status
from rlprof.recording.place import RUN_FILE


@dataclass(frozen=True, slots=True)
class Run:
    command: tuple[str, ...]
    started: float
    status: Status
    exit_code: int | None = None

    def ended(self, status: Status, exit_code: int | None) -> Run:
        return replace(self, status=status, exit_code=exit_code)


def write_run(parts: Path, run: Run) -> None:
    """Write it whole or not at all."""
    scratch = parts / f".{RUN_FILE}.{os.getpid()}"
    descriptor = os.open(scratch, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(run), file)
    os.replace(scratch, parts / RUN_FILE)


def read_run(parts: Path) -> Run | None:
    """The run's own words, or None where there are none or they are damaged."""
    try:
        return parse_run(json.loads((parts / RUN_FILE).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def parse_run(data: dict[str, Any]) -> Run:
    status = data["status"]
    if status not in ("completed", "failed", "interrupted", "killed", "running"):
        raise ValueError(status)
    code = None if data["exit_code"] is None else int(data["exit_code"])
    return Run(tuple(str(word) for word in data["command"]), float(data["started"]), status, code)
