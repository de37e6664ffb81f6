"""The command that shows whether a cure has helped."""

from __future__ import annotations

import re


def run_again(command: str) -> str:
    """The same program under rlprof once more."""
    if not command:
        return "rlprof run SCRIPT"
    plain = re.sub(r"^\S*python[\d.]*(?:\.exe)?\s+", "", command)
    return plain if re.match(r"^\S*rlprof\s", plain) else f"rlprof run {plain}"
