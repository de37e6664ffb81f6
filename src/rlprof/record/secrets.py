"""Masking what looks like a secret before it is written anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MASK: Final = "***"

#: The last word of a name says what its value is: --token is a secret, --max-tokens and --keys-per-head are not.
_NAME: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:api[-_]?key|access[-_]?key|private[-_]?key|key|token|secret|passw(?:or)?d|passwd|pwd|"
    r"credentials?|auth|bearer|dsn|cookie|session[-_]?id)$"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VALUE: Final = re.compile(
    r"\b(?:"
    r"sk-[A-Za-z0-9][-_A-Za-z0-9]{15,}|[sprw]k_(?:live|test|prod)_[A-Za-z0-9]{8,}|"
    r"gh[pousr]_[A-Za-z0-9]{12,}|github_pat_[A-Za-z0-9_]{12,}|glpat-[-_A-Za-z0-9]{12,}|hf_[A-Za-z0-9]{12,}|"
    r"xox[abeprs]-[-A-Za-z0-9]{12,}|A(?:KIA|SIA)[A-Z0-9]{12,}|AIza[-_A-Za-z0-9]{30,}|"
    r"eyJ[-_A-Za-z0-9]{12,}(?:\.[-_A-Za-z0-9]+)*|[0-9a-f]{64}|[0-9a-f]{40}"
    r")(?![A-Za-z0-9])"
)
_URL_PASSWORD: Final = re.compile(r"(?P<head>[a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s]+@", re.IGNORECASE)
#: `api_key=…` or `"token": "…"` inside a longer text, and the value of an Authorization header.
_INSIDE: Final = re.compile(
    r"(?i)(?P<head>(?:^|[^a-z0-9])[\w-]*?(?:api[-_]?key|access[-_]?key|token|secret|passw(?:or)?d|passwd)"
    r"[\"']?\s*[=:]\s*[\"']?)[^\s&,;\"'}]+"
)
_BEARER: Final = re.compile(r"(?i)(?P<head>\b(?:bearer|basic)\s+)[-_.~+/=A-Za-z0-9]{6,}")


def names_a_secret(name: str) -> bool:
    """Whether an option or a variable of this name is likely to hold a secret."""
    return bool(_NAME.search(_CAMEL.sub("-", name)))


def mask_value(value: str) -> str:
    """The value with what has the form of a key, or a password inside an address, taken out."""
    for pattern in (_BEARER, _INSIDE):
        value = pattern.sub(rf"\g<head>{MASK}", value)
    return _URL_PASSWORD.sub(rf"\g<head>:{MASK}@", _VALUE.sub(MASK, value))


def mask_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line with its secrets masked: `--api-key X`, `--token=X`, `KEY=X`, and values that look like keys."""
    masked: list[str] = []
    hide_next = False
    for word in arguments:
        if hide_next and not word.startswith("-"):
            masked.append(MASK)
            hide_next = False
            continue
        name, equals, value = word.partition("=")
        if equals and names_a_secret(name):
            masked.append(f"{name}={MASK}" if value else word)
            hide_next = False
            continue
        hide_next = word.startswith("-") and not equals and names_a_secret(word)
        masked.append(mask_value(word))
    return masked


def mask_variable(name: str, value: str) -> str:
    """An environment variable's value, masked when its name or its form gives it away."""
    return MASK if names_a_secret(name) else mask_value(value)
