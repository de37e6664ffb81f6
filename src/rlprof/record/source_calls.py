"""Calls in the user's source that samples cannot name, as they run in C: of array libraries, and of torch's old types.

Noted at the end of a run like the loops, see `source_loops`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from rlprof.record.source_loops import last_name, parsed

#: Libraries whose functions work on whole arrays.
_ARRAYS: Final = frozenset({"numpy", "torch", "scipy", "jax", "cupy", "cv2", "numba", "tensordict"})
#: They make a tensor of a list element by element, without a function of Python's that a probe could see.
_OLD_TYPES: Final = frozenset(
    f"{kind}Tensor" for kind in ("", "Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Char", "Bool")
)
_MAKE_LISTS: Final = frozenset({"list", "tuple", "tolist"})
_NO_GRADS: Final = frozenset({"no_grad", "inference_mode"})


def array_calls_of(source: str) -> Iterator[tuple[int, int]]:
    """Calls of what was imported from such a library, and products of matrices: first and last lines."""
    tree = parsed(source)
    known = set(_imported(tree))
    for node in ast.walk(tree):
        if (isinstance(node, ast.Call) and _first_name(node.func) in known) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        ):
            yield node.lineno, node.end_lineno or node.lineno


def old_tensors_of(source: str) -> Iterator[tuple[int, int]]:
    """Calls such as `torch.FloatTensor(rows)`; not those that are given a size or an array."""
    for node in ast.walk(parsed(source)):
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) in _OLD_TYPES
            and len(node.args) == 1
            and not node.keywords
            and _may_be_list(node.args[0])
        ):
            yield node.lineno, node.end_lineno or node.lineno


def episodes_of(source: str) -> Iterator[tuple[int, int]]:
    """Functions that begin episodes and play on: both `reset` and `step` are called in them."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            called = {last_name(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
            if {"reset", "step"} <= called:
                yield node.lineno, node.end_lineno or node.lineno


def no_grads_of(source: str) -> Iterator[tuple[int, int]]:
    """Blocks and functions that torch keeps no gradients in."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.With):
            asked = [item.context_expr for item in node.items]
        elif isinstance(node, ast.FunctionDef):
            asked = node.decorator_list
        else:
            continue
        names = {last_name(each.func if isinstance(each, ast.Call) else each) for each in asked}
        if not names.isdisjoint(_NO_GRADS):
            yield node.lineno, node.end_lineno or node.lineno


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names by which a module knows such libraries and what is in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _ARRAYS:
                    yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _ARRAYS:
            for alias in node.names:
                yield alias.asname or alias.name


def _may_be_list(given: ast.expr) -> bool:
    """A list, or what holds one. A name may hold an array, which takes no time; rows of one are taken in NumPy."""
    if isinstance(given, ast.Call):
        return last_name(given.func) in _MAKE_LISTS
    return isinstance(given, ast.ListComp | ast.List | ast.Tuple | ast.Name | ast.Attribute)


def _first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
