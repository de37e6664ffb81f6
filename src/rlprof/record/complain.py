"""Telling the person at the terminal that something of ours failed: one line, once, and training goes on."""

from __future__ import annotations

import sys

_said: set[str] = set()


def complain(code: str, message: str) -> bool:
    """Say it unless something with the same code was said before. Whether it was said."""
    if code in _said:
        return False
    _said.add(code)
    try:
        sys.stderr.write(f"rlprof: {message}\n")
        sys.stderr.flush()
    except Exception:  # no stderr, a closed one, or an object of the program's that fails: nobody to tell
        return False
    return True


def forget() -> None:
    """A new recording may complain again."""
    _said.clear()
