"""Lengths of time on the command line: `90s`, `10m`, `2h`."""

from __future__ import annotations

import re

from rlprof.model.errors import BadOption

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds. A bare number is seconds, too."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([smh]?)", text.strip(), re.ASCII)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if seconds <= 0:
        raise BadOption(f"{text!r} is no length of time: write 90s, 10m or 2h")
    return seconds
