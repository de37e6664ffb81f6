"""The loops and pauses in the user's source, noted at the end of a run; of loops, too, which go backwards.

Samples say how long a line took, and not which lines are one piece of work. Whoever reads the recording may not have
the source, or not as it was, so that it is looked at here.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

#: (first line, last line, whether it goes backwards)
Loop = tuple[int, int, bool]

LARGEST_FILE: Final = 1_000_000  # bytes
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
        if isinstance(node, _COMPREHENSIONS) or (isinstance(node, ast.Call) and last_name(node.func) in _FOR_EACH):
            yield node.lineno, node.end_lineno or node.lineno


def pauses_of(source: str) -> Iterator[tuple[int, int]]:
    """Calls of `time.sleep` and its like."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call) and last_name(node.func) in _PAUSES:
            yield node.lineno, node.end_lineno or node.lineno


@lru_cache(maxsize=1)
def parsed(source: str) -> ast.Module:
    """A module's tree, which is asked for several times in a row; an empty one where it is no Python that we read."""
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
        name = last_name(iterated.func)
        if name in ("enumerate", "zip", "tqdm", "reversed", "list", "sorted"):
            return any(_counts(each) for each in iterated.args)
        return name in _DRAWS
    return not _ITEMS.isdisjoint(last_name(iterated).lower().split("_"))


def last_name(node: ast.expr) -> str:
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
