"""Applying treatments in a process that finds them in its environment."""

from __future__ import annotations

import json

from rlprof.model.errors import BadOption
from rlprof.record.children import TREATMENTS_VARIABLE
from rlprof.record.complain import complain
from rlprof.treat.registry import parse_treatments
from rlprof.treat.standing import Treatments
from rlprof.treat.treatment import Treatment


def read_variable(text: str | None) -> list[Treatment]:
    """The treatments that an environment names; none where it names none."""
    if not text:
        return []
    try:
        texts = json.loads(text)
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(entry, str) for entry in texts):
        raise BadOption(f"{TREATMENTS_VARIABLE} is no list of texts: write {TREATMENTS_VARIABLE}='[\"threads=1\"]'")
    return parse_treatments(texts)


def begin_treatments(text: str) -> None:
    """Treat this process. A fault here costs the treatment, not the program."""
    try:
        Treatments(read_variable(text)).start()
    except Exception as error:
        complain("treatments", f"this process is not treated: {error!r}")
