"""Files as people know them who are sent a report: the folders of this machine say nothing to them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rlprof.analyse.places import module_path

#: An absolute path inside of a text, up to what cannot be a part of it.
_PATH: Final = re.compile(r"(?<![\w.~\\/-])(?:[A-Za-z]:\\|/)[^\s:;,`'\"()]+")


@dataclass(frozen=True)
class Paths:
    """Below the folder in which the program ran, below that of installed packages, or below the user's own."""

    directory: str | None

    def shown(self, file: str) -> str:
        inside = module_path(file)
        if inside != file:
            return inside
        below = _below(self.directory, file)
        if below is not None:
            return below
        below = _below(_home(), file)
        return f"~/{below}" if below is not None else file

    def in_words(self, text: str) -> str:
        """A sentence of ours that names files: the same for every path in it."""
        return _PATH.sub(lambda found: self.shown(found[0]), text)


def from_here(text: str) -> str:
    """A text for the terminal: files below the folder that it is in are named from there, all others in full."""
    try:
        here = os.getcwd()
    except OSError:  # it was taken away
        return text
    return _PATH.sub(lambda found: _below(here, found[0]) or found[0], text)


def _below(folder: str | None, file: str) -> str | None:
    """What is left of a file's path; None where it is not in the folder, or the folder is a whole disk."""
    whole = (folder or "").rstrip("/\\")
    rest = file[len(whole) :]
    return rest[1:] if re.search(r"[\\/].", whole) and file.startswith(whole) and rest[:1] in ("/", "\\") else None


def _home() -> str | None:
    try:
        return str(Path.home())
    except RuntimeError:  # nobody is at home here
        return None
