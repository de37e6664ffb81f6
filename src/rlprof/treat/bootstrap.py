"""Applying treatments in a process that finds them in its environment."""

from __future__ import annotations

import json
from typing import Final

from rlprof.model.errors import BadOption
from rlprof.record.complain import complain
from rlprof.treat.registry import parse_treatments
from rlprof.treat.standing import Treatments
from rlprof.treat.treatment import Treatment

VARIABLE: Final = "RLPROF_TREATMENTS"


def read_variable(text: str | None) -> list[Treatment]:
    """The treatments that an environment names; none where it names none."""
    if not text:
        return []
    try:
        texts = json.loads(text)
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(entry, str) for entry in texts):
        raise BadOption(f"{VARIABLE} is no list of texts: write {VARIABLE}='[\"threads=1\"]'")
    return parse_treatments(texts)


def begin_treatments(text: str) -> None:
    """Treat this process. A fault here costs the treatment, not the program."""
    try:
        Treatments(read_variable(text)).start()
    except Exception as error:
        complain("treatments", f"this process is not treated: {error!r}")
