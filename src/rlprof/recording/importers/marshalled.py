"""Plain values out of marshal's format, read with care: the interpreter's own reader trusts what it reads.

Only what cProfile writes is known: dicts, tuples, numbers and strings. Anything else is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

_REMEMBERED: Final = 0x80  # a value that is referred to later
_NULL: Final = object()  # ends a dict
MOST_ITEMS: Final = 5_000_000
DEEPEST: Final = 20


class Unreadable(ValueError):
    """This is no such file, or it is damaged."""


def loads(raw: bytes) -> Any:
    """The value that a file holds."""
    reader = _Reader(raw)
    value = reader.value(0)
    if value is _NULL:
        raise Unreadable("it is empty")
    return value


class _Reader:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0
        self._known: list[Any] = []
        self._items = 0
        self._readers: dict[bytes, Callable[[int], Any]] = {
            b"0": lambda depth: _NULL,
            b"N": lambda depth: None,
            b"T": lambda depth: True,
            b"F": lambda depth: False,
            b"i": lambda depth: self._number("<i"),
            b"l": lambda depth: self._long(),
            b"g": lambda depth: self._number("<d"),
            b"r": lambda depth: self._reference(),
            b"u": lambda depth: self._text("<I", "utf-8"),
            b"t": lambda depth: self._text("<I", "utf-8"),
            b"a": lambda depth: self._text("<I", "ascii"),
            b"A": lambda depth: self._text("<I", "ascii"),
            b"z": lambda depth: self._text("<B", "ascii"),
            b"Z": lambda depth: self._text("<B", "ascii"),
            b")": lambda depth: self._tuple(int(self._number("<B")), depth),
            b"(": lambda depth: self._tuple(int(self._number("<I")), depth),
            b"{": self._dict,
        }

    def value(self, depth: int) -> Any:
        self._items += 1
        if depth > DEEPEST or self._items > MOST_ITEMS:
            raise Unreadable("it is too deep or too large")
        code = self._take(1)[0]
        read = self._readers.get(bytes([code & ~_REMEMBERED]))
        if read is None:
            raise Unreadable(f"it holds a value of an unknown kind ({code & ~_REMEMBERED})")
        if not code & _REMEMBERED:
            return read(depth)
        place = len(self._known)
        self._known.append(_NULL)  # numbered before what is inside it
        self._known[place] = found = read(depth)
        return found

    def _take(self, size: int) -> bytes:
        found = self._raw[self._at : self._at + size]
        if size < 0 or len(found) != size:
            raise Unreadable("it is cut short")
        self._at += size
        return found

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _long(self) -> int:
        """Digits of 15 bits, the lowest first; the sign is that of their number."""
        size = int(self._number("<i"))
        value = 0
        for place, digit in enumerate(struct.unpack(f"<{abs(size)}H", self._take(2 * abs(size)))):
            value |= digit << (15 * place)
        return -value if size < 0 else value

    def _text(self, size: str, encoding: str) -> str:
        return self._take(int(self._number(size))).decode(encoding, "replace")

    def _reference(self) -> Any:
        place = int(self._number("<I"))
        if place >= len(self._known) or self._known[place] is _NULL:
            raise Unreadable("it refers to what is not there")
        return self._known[place]

    def _tuple(self, size: int, depth: int) -> tuple[Any, ...]:
        if size > len(self._raw) - self._at:
            raise Unreadable("it is cut short")
        return tuple(self.value(depth + 1) for _ in range(size))

    def _dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (key := self.value(depth + 1)) is not _NULL:
            try:
                found[key] = self.value(depth + 1)
            except TypeError:  # a dict as a key
                raise Unreadable("a key is no plain value") from None
        return found
