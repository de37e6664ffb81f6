"""Shares on the command line: `5%` or `0.05`."""

from __future__ import annotations

import math

from rlprof.model.errors import BadOption


def parse_share(text: str) -> float:
    """A share of one. A bare number of 1 or more is refused: 5 may mean 5% or five times."""
    said = text.strip()
    try:
        share = float(said.removesuffix("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share < 10 or (share >= 1 and not said.endswith("%")):
        raise BadOption(f"{text!r} is no share: write 5% or 0.05")
    return share
