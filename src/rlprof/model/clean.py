"""Names from the recorded program are hostile. Here they become harmless for a terminal."""

from __future__ import annotations

import unicodedata
from typing import Final

ELLIPSIS: Final = "…"

#: Control, format (bidi overrides, zero-width, soft hyphen), surrogates, line and paragraph separators.
_UNSAFE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DELETE: Final = 0x7F
_CONTROL_PICTURES: Final = 0x2400


def clean_text(text: str, limit: int = 200) -> str:
    """`text` on one line with every character that could steer a terminal shown instead of obeyed."""
    if limit < 1:
        return ""
    # Cut first: a name may be megabytes long, and each character grows by cleaning, never shrinks.
    cut = text[: limit + 1]
    shown = cut if cut.isascii() and cut.isprintable() else "".join(map(_harmless, cut))
    return shown if len(shown) <= limit else shown[: limit - 1] + ELLIPSIS


def _harmless(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE_CATEGORIES:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == _DELETE:
        return "␡"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
