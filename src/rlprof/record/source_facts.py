"""What is noted of the user's source at the end of a run, by file: where its loops are, and what its lines call."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from rlprof.record.source_calls import array_calls_of, episodes_of, no_grads_of, old_tensors_of
from rlprof.record.source_loops import LARGEST_FILE, comprehensions_of, item_loops_of, loops_of, parsed, pauses_of

#: Files that are read, those with the most samples: more would only delay the end.
MOST_FILES: Final = 12
MOST_ROWS: Final = 400  # of a file

FACTS: Final[dict[str, Callable[[str], Iterator[Any]]]] = {
    "loops": loops_of,
    "item_loops": item_loops_of,
    "comprehensions": comprehensions_of,
    "pauses": pauses_of,
    "array_calls": array_calls_of,
    "old_tensors": old_tensors_of,
    "episodes": episodes_of,
    "no_grad": no_grads_of,
}


def facts_of_files(samples: Counter[str], changed_before: float) -> dict[str, dict[str, list[Any]]]:
    """Each fact by file, of the files that samples fell into; without those changed since the run began."""
    found: dict[str, dict[str, list[Any]]] = {name: {} for name in FACTS}
    for file, _ in samples.most_common(MOST_FILES):
        source = _read(file, changed_before)
        if source is not None:
            for name, find in FACTS.items():
                found[name][file] = list(find(source))[:MOST_ROWS]  # that there are none is worth knowing, too
    parsed.cache_clear()
    return found


def _read(file: str, changed_before: float) -> str | None:
    try:
        facts = os.stat(file)
        if facts.st_size > LARGEST_FILE or facts.st_mtime > changed_before:
            return None
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
