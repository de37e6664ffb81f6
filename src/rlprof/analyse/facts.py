"""What the recording knows about the machine and the program, in the report's words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from rlprof.analyse.treatments import treatments_of
from rlprof.model.recording import Recording
from rlprof.model.report import ProcessEntry, RunEntry


def run_entry(recording: Recording, wall_seconds: float, processes: tuple[ProcessEntry, ...]) -> RunEntry:
    """The head of the report."""
    facts = recording.main.facts
    return RunEntry(
        command=shlex.join(recording.command),
        started=started_text(recording.started),
        wall_seconds=wall_seconds,
        status=recording.status,
        exit_code=recording.exit_code,
        host=_text(facts, "host"),
        python=_text(facts, "python"),
        torch=_text(facts, "torch"),
        cpu=_text(facts, "cpu"),
        cores=_whole(facts, "cores"),
        gpu=_text(facts, "gpu"),
        processes=processes,
        treatments=treatments_of(recording),
        directory=_text(facts, "directory"),
    )


def started_text(seconds: float) -> str:
    """ISO 8601 in UTC: the reader's time zone is not the run's."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # a damaged stamp must not cost the report
        return datetime.fromtimestamp(0, timezone.utc).isoformat(timespec="seconds")


def _text(facts: Mapping[str, Any], name: str) -> str | None:
    value = facts.get(name)
    if isinstance(value, Mapping):  # a fact with parts: its version or name is what a person asks for
        value = value.get("version") or value.get("name")
    return str(value) if value not in (None, "") else None


def _whole(facts: Mapping[str, Any], name: str) -> int | None:
    value = facts.get(name)
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
