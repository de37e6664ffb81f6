"""The rules' pages, which are docs/rules/ in the sources and lie beside this file in an installed package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_FOLDERS: Final = (_HERE / "pages", _HERE.parents[2] / "docs" / "rules")


def page_of(rule: str) -> str | None:
    """The page of a rule as Markdown; None where there is none."""
    for folder in _FOLDERS:
        file = folder / f"{rule}.md"
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return None


def summary_of(rule: str) -> str:
    """What a rule is about in one sentence: the first one of its page."""
    paragraphs = (page_of(rule) or "").split("\n\n")
    first = " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
    sentence, stop, _ = first.partition(". ")
    return sentence + stop.strip()
