"""Turning recording on in a process that finds itself inside a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rlprof.probes.install import Probes
from rlprof.record.children import TREATMENTS_VARIABLE, Inheritance
from rlprof.record.complain import complain
from rlprof.record.session import ServerSession, Session, begin, end_with_worker


def begin_recording(session_text: str) -> None:
    """Record this process into the run its environment names. A fault here costs the recording, not the program."""
    try:
        inheritance = Inheritance.from_json(session_text)
        role = _role(inheritance)
        if role is None:
            return
        kind = ServerSession if role == "server" else Session
        target = Path(inheritance.target)
        begin(kind(target, inheritance.options, role=role, parent_uid=inheritance.parent_uid, managed=True))
        _begin_treatments()
        if inheritance.options.probes or inheritance.options.spans:
            Probes(inheritance.options).start()
        if role == "spawn":
            end_with_worker()
    except Exception as error:
        complain("bootstrap", f"this process is not recorded: {error!r}")


def _begin_treatments() -> None:
    """Before the probes, so that they look at the program as it is treated; after the machine was described."""
    treatments = os.environ.get(TREATMENTS_VARIABLE)
    if treatments:
        from rlprof.treat.bootstrap import begin_treatments

        begin_treatments(treatments)


def _role(inheritance: Inheritance) -> str | None:
    """How this process came to be, from how it was called; None for helpers that are nobody's concern."""
    if inheritance.parent_uid is None:
        return "main"
    arguments = " ".join(sys.orig_argv)
    if "multiprocessing.resource_tracker" in arguments:
        return None
    if "multiprocessing.forkserver" in arguments:
        return "server"
    return "spawn" if "--multiprocessing-fork" in arguments else "subprocess"
