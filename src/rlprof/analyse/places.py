"""What a stack sample's frames say: the user's own line, and the library's function that ran below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rlprof.model.own_files import is_ours, is_users
from rlprof.model.recording import Frame

_PACKAGE: Final = re.compile(r"^.*[\\/](?:(?:site|dist)-packages|lib(?:64)?[\\/]python[\d.]+t?)[\\/]", re.IGNORECASE)
_IMPORT_SYSTEM: Final = "<frozen importlib"
_IMPORT: Final = "import "


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in code, whichever call led to it."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What one stack shows: a line, whether the user wrote it, and what of a library was running below it."""

    spot: Spot
    own: bool
    below: Spot | None


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is known of a stack from its outermost frame down to this one."""

    users: Frame | None
    library: Spot | None  # the innermost below the user's frame; an import stays what it is
    importing: bool


_NOTHING: Final = _Reading(None, None, False)


def module_path(file: str) -> str:
    """A library's file from its package on."""
    return _PACKAGE.sub("", file)


class Sights:
    """Reads stacks, each frame once: thousands of stacks share their callers."""

    def __init__(self, frames: Mapping[int, Frame]) -> None:
        self._frames = frames
        self._users: dict[str, bool] = {}
        self._readings: dict[int, _Reading] = {}

    def at(self, leaf: int) -> Sight | None:
        """What the stack that ends at this frame shows; None for a frame that the recording does not hold."""
        frame = self._frames.get(leaf)
        if frame is None:
            return None
        reading = self._reading(leaf)
        if reading.users is not None:
            return Sight(_spot(reading.users), True, reading.library)
        return Sight(reading.library or _spot(frame), False, None)

    def is_importing(self, leaf: int) -> bool:
        """Whether a module was being loaded when the stack was seen."""
        return self._reading(leaf).importing

    def _reading(self, leaf: int) -> _Reading:
        chain: list[Frame] = []
        seen: set[int] = set()  # a damaged file could hold a circle
        identity: int | None = leaf
        while identity is not None and identity not in self._readings and identity not in seen:
            seen.add(identity)
            frame = self._frames.get(identity)
            if frame is None:
                break
            chain.append(frame)
            identity = frame.parent
        reading = self._readings.get(identity, _NOTHING) if identity is not None else _NOTHING
        for frame in reversed(chain):
            reading = self._readings[frame.id] = self._extended(reading, frame)
        return reading

    def _extended(self, above: _Reading, frame: Frame) -> _Reading:
        users = self._users.get(frame.file)
        if users is None:
            users = self._users[frame.file] = is_users(frame.file)
        if users:
            return _Reading(frame, None, above.importing)
        if frame.file.startswith(_IMPORT_SYSTEM):
            return _Reading(above.users, above.library, True)
        if is_ours(frame.file):
            return above
        if above.library is not None and above.library.function.startswith(_IMPORT):
            return above  # what an import runs says less than what was imported
        if above.importing and frame.function == "<module>":
            return _Reading(above.users, Spot(frame.file, 1, _IMPORT + _module_name(frame.file)), True)
        return _Reading(above.users, _spot(frame), above.importing)


def _module_name(file: str) -> str:
    parts = re.split(r"[\\/]", module_path(file).removesuffix(".py"))
    return ".".join(parts).removesuffix(".__init__").strip(".")


def _spot(frame: Frame) -> Spot:
    # A comprehension is part of the function it stands in.
    return Spot(frame.file, frame.line, frame.function.partition(".<locals>.<")[0])
