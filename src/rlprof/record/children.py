"""How child processes come to be recorded: what they find in their environment.

A variable carries the session, and a folder at the front of PYTHONPATH holds a `sitecustomize` that every Python reads
when it starts. Both are taken away when the recording stops.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlprof.record.options import Options

SESSION_VARIABLE: Final = "RLPROF_SESSION"
#: Changes to make inside every process of the run, a JSON list of texts; `rlprof.treat` reads them.
TREATMENTS_VARIABLE: Final = "RLPROF_TREATMENTS"
BOOTSTRAP: Final = Path(__file__).resolve().parent.parent / "probes" / "_bootstrap"


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What a child process needs to know to record itself into the same run."""

    target: str
    options: Options
    parent_uid: str | None  # None: the process is the run's main one

    def to_json(self) -> str:
        return json.dumps({"target": self.target, "options": self.options.to_json(), "parent": self.parent_uid})

    @classmethod
    def from_json(cls, text: str) -> Inheritance:
        data = json.loads(text)
        return cls(data["target"], Options.from_json(data["options"]), data["parent"])


def environment_for(inheritance: Inheritance, base: dict[str, str]) -> dict[str, str]:
    """The environment a process is started with so that it and its children are recorded."""
    paths = [str(BOOTSTRAP), *(p for p in base.get("PYTHONPATH", "").split(os.pathsep) if p and p != str(BOOTSTRAP))]
    return {**base, SESSION_VARIABLE: inheritance.to_json(), "PYTHONPATH": os.pathsep.join(paths)}


class ExportedSession:
    """The session in this process's own environment, for the children it starts; undone by `withdraw`."""

    def __init__(self, inheritance: Inheritance) -> None:
        self._before = {name: os.environ.get(name) for name in (SESSION_VARIABLE, "PYTHONPATH")}
        changed = environment_for(inheritance, dict(os.environ))
        for name in self._before:
            os.environ[name] = changed[name]

    def withdraw(self) -> None:
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
