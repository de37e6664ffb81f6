"""The packed records that the compiled core hands over, and how to read them. A test holds their sizes together.

Without NumPy: the recorded program may not want it loaded yet.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

NEVER: Final = 2**63 - 1  # the shortest of no durations


class Layout(NamedTuple):
    size: int
    fields: Mapping[str, tuple[str, int]]  # struct's code of the type, and where it begins

    def columns(self, data: bytes) -> dict[str, list[Any]]:
        """Each field of all records as a list."""
        return {name: self.column(data, name) for name in self.fields}

    def column(self, data: bytes, name: str) -> list[Any]:
        if not data:
            return []
        code, offset = self.fields[name]
        width = struct.calcsize(f"={code}")
        if self.size % width or offset % width:  # packed tighter than the type likes
            return [record[0] for record in struct.iter_unpack(f"={offset}x{code}{self.size - offset - width}x", data)]
        view: Any = memoryview(data)
        column: list[Any] = view.cast(code)[offset // width :: self.size // width].tolist()
        return column


def _in_order(*fields: tuple[str, str]) -> Layout:
    offsets: dict[str, tuple[str, int]] = {}
    size = 0
    for name, code in fields:
        offsets[name] = (code, size)
        size += struct.calcsize(f"={code}")
    return Layout(size, offsets)


ROW: Final = _in_order(
    ("path", "I"), ("exact", "I"), ("count", "Q"), ("untimed", "Q"), ("total", "q"), ("own", "q"), ("shortest", "q"),
    ("longest", "q"), ("charged", "q"), ("rss_peak", "q"), ("rss_rise", "q"), ("device_rise", "q"),
)  # fmt: skip
BIN: Final = _in_order(("row", "I"), ("bucket", "I"), ("count", "I"))
OPEN_SPAN: Final = _in_order(("path", "I"), ("start", "q"))
TURN: Final = _in_order(("start", "q"), ("duration", "q"), ("env_steps", "d"))
EVENT: Final = _in_order(("path", "I"), ("padding", "I"), ("start", "q"), ("duration", "q"))
