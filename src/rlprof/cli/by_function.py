"""What cProfile measured, as text."""

from __future__ import annotations

import io
import pstats
from pathlib import Path
from typing import Final

MOST_FUNCTIONS: Final = 50


def write_table(profile: Path, table: Path) -> None:
    """The functions with the most cumulative time, from a .prof file into a text file."""
    text = io.StringIO()
    pstats.Stats(str(profile), stream=text).sort_stats("cumulative").print_stats(MOST_FUNCTIONS)
    table.write_text(text.getvalue(), encoding="utf-8")
