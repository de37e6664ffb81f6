"""The loops and pauses in the user's source, noted at the end of a run; of loops, too, which go backwards.

Samples say how long a line took, and not which lines are one piece of work. Whoever reads the recording may not have
the source, or not as it was, so that it is looked at here.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

#: (first line, last line, whether it goes backwards)
Loop = tuple[int, int, bool]
Row = TypeVar("Row")

#: Files that are read, those with the most samples: more would only delay the end.
MOST_FILES: Final = 12
LARGEST_FILE: Final = 1_000_000  # bytes
MOST_LOOPS: Final = 400  # of a file
#: Calls, and words of names, that stand for many items.
_DRAWS: Final = frozenset({"range", "trange", "sample", "choice", "choices", "randint", "integers", "permutation"})
_ITEMS: Final = frozenset(
    {
        "idx",
        "idxs",
        "ids",
        "inds",
        "index",
        "indexes",
        "indices",
        "batch",
        "samples",
        "transitions",
        "episodes",
        "memory",
    }
)

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FOR_EACH: Final = frozenset({"map", "filter", "reduce", "starmap", "apply_along_axis", "fromfunction"})
#: `time.sleep`; `pygame.time.Clock.tick`, which keeps to a frame rate.
_PAUSES: Final = frozenset({"sleep", "tick", "tick_busy_loop"})


def loops_of_files(samples: Counter[str], changed_before: float) -> dict[str, list[Loop]]:
    """The loops of the files that samples fell into, by file; without those changed since the run began."""
    return _by_file(samples, changed_before, loops_of)


def item_loops_of_files(samples: Counter[str], changed_before: float) -> dict[str, list[tuple[int, int]]]:
    """The same for the first and last lines of those loops that go from item to item."""
    return _by_file(samples, changed_before, item_loops_of)


def comprehensions_of_files(samples: Counter[str], changed_before: float) -> dict[str, list[tuple[int, int]]]:
    """The same for comprehensions, which are loops in one expression."""
    return _by_file(samples, changed_before, comprehensions_of)


def pauses_of_files(samples: Counter[str], changed_before: float) -> dict[str, list[tuple[int, int]]]:
    """The same for statements that wait for time to pass."""
    return _by_file(samples, changed_before, pauses_of)


def _by_file(
    samples: Counter[str], changed_before: float, find: Callable[[str], Iterable[Row]]
) -> dict[str, list[Row]]:
    found = {}
    for file, _ in samples.most_common(MOST_FILES):
        source = _read(file, changed_before)
        if source is not None:  # that there are none is worth knowing, too
            found[file] = list(find(source))[:MOST_LOOPS]
    return found


def loops_of(source: str) -> Iterator[Loop]:
    """All `for` and `while` loops of a module, in order; none where it is no Python that we read."""
    for node, last in _loops(source):
        yield node.lineno, last, isinstance(node, ast.For) and _goes_back(node.iter)


def item_loops_of(source: str) -> Iterator[tuple[int, int]]:
    """`for` loops over numbers or indices: they turn once for each item, not for each field of one.

    A `while` loop may be about anything: one that walks a tree for a whole batch turns once for each level.
    """
    for node, last in _loops(source):
        if isinstance(node, ast.For) and _counts(node.iter):
            yield node.lineno, last


def comprehensions_of(source: str) -> Iterator[tuple[int, int]]:
    """Comprehensions, generator expressions, and calls that have a function called for each item."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, _COMPREHENSIONS) or (isinstance(node, ast.Call) and _last_name(node.func) in _FOR_EACH):
            yield node.lineno, node.end_lineno or node.lineno


def pauses_of(source: str) -> Iterator[tuple[int, int]]:
    """Calls of `time.sleep` and its like."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and _last_name(node.func) in _PAUSES:
            yield node.lineno, node.end_lineno or node.lineno


def parsed(source: str) -> ast.Module:
    """A module's tree; an empty one where it is no Python that we read."""
    try:
        # What there is to say of the source was said when the program was loaded.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _loops(source: str) -> Iterator[tuple[ast.For | ast.While, int]]:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.For | ast.While) and node.end_lineno is not None:
            yield node, node.end_lineno


def _counts(iterated: ast.expr) -> bool:
    """`range(...)`, a random draw, or what is called indices or a batch; also inside `enumerate` and `zip`."""
    if isinstance(iterated, ast.Call):
        name = _last_name(iterated.func)
        if name in ("enumerate", "zip", "tqdm", "reversed", "list", "sorted"):
            return any(_counts(each) for each in iterated.args)
        return name in _DRAWS
    return not _ITEMS.isdisjoint(_last_name(iterated).lower().split("_"))


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _goes_back(iterated: ast.expr) -> bool:
    """`reversed(...)`, `range(..., -1)` and `...[::-1]`, also inside `enumerate` and `zip`."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        name, given = iterated.func.id, iterated.args
        if name == "reversed":
            return True
        if name == "range":
            return len(given) == 3 and _is_negative(given[2])
        if name in ("enumerate", "zip", "tqdm", "trange"):
            return _any_back(given)
    if isinstance(iterated, ast.Subscript) and isinstance(iterated.slice, ast.Slice):
        return iterated.slice.step is not None and _is_negative(iterated.slice.step)
    return False


def _any_back(given: Iterable[ast.expr]) -> bool:
    return any(_goes_back(each) for each in given)


def _is_negative(value: ast.expr) -> bool:
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)


def _read(file: str, changed_before: float) -> str | None:
    try:
        facts = os.stat(file)
        if facts.st_size > LARGEST_FILE or facts.st_mtime > changed_before:
            return None
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
