"""What is known about a run as a whole, beside its parts: the command, and how it ended."""

from __future__ import annotations

import json
import math
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
    """Write it whole or not at all; on a full disk into the room that it has already."""
    content = json.dumps(asdict(run)).encode()
    scratch = parts / f".{RUN_FILE}.{os.getpid()}"
    try:
        _write(scratch, content)
        os.replace(scratch, parts / RUN_FILE)
    except OSError:
        scratch.unlink(missing_ok=True)
        if not (parts / RUN_FILE).exists():
            raise
        _write(parts / RUN_FILE, content)


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, content)
        os.ftruncate(descriptor, len(content))
    finally:
        os.close(descriptor)


def read_run(parts: Path) -> Run | None:
    """The run's own words, or None where there are none or they are damaged."""
    try:
        return parse_run(json.loads((parts / RUN_FILE).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def parse_run(data: dict[str, Any]) -> Run:
    status = data["status"]
    if status not in ("completed", "failed", "interrupted", "killed", "running"):
        raise ValueError(status)
    started = float(data["started"])
    if not math.isfinite(started):
        raise ValueError(started)
    code = None if data["exit_code"] is None else int(data["exit_code"])
    return Run(tuple(str(word) for word in data["command"]), started, status, code)
