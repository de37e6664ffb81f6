"""Who a process is: its own name in the recording, where it came from, and when it began on both clocks."""

from __future__ import annotations

import os
import secrets
import sys
import time
from dataclasses import dataclass
from typing import Any

from rlprof import _core
from rlprof.record.secrets import mask_arguments


@dataclass(frozen=True, slots=True)
class Identity:
    uid: str
    parent_uid: str | None
    pid: int
    role: str
    argv: tuple[str, ...]
    started: float
    start_ns: int

    @classmethod
    def of_this_process(cls, role: str, parent_uid: str | None) -> Identity:
        return cls(
            # A pid is given away again once its process has ended; the random part is what makes the name unique.
            uid=f"{os.getpid()}-{secrets.token_hex(5)}",
            parent_uid=parent_uid,
            pid=os.getpid(),
            role=role,
            argv=tuple(mask_arguments(sys.orig_argv)),
            started=time.time(),
            start_ns=_core.clock_ns(),
        )

    def wall_drift(self) -> float:
        """Seconds by which the wall clock was set since the start, as far as the monotonic clock can tell."""
        return (time.time() - self.started) - (_core.clock_ns() - self.start_ns) / 1e9

    def row(self) -> dict[str, Any]:
        return {
            "uid": self.uid,
            "parent_uid": self.parent_uid,
            "pid": self.pid,
            "role": self.role,
            "argv": list(self.argv),
            "started": self.started,
            "start_ns": self.start_ns,
        }
