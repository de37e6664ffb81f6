"""Scripted teachers of the program: functions and methods that say which action an expert would take.

Some are known by their names. A method `act` may be anybody's: the name of its class says whether it teaches, or the
name that the source has for an object of it.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import sys
from collections.abc import Callable, Collection
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.groups import TEACHER
from rlprof.probes.guesses import list_inferred
from rlprof.probes.own_code import is_called, is_own_file
from rlprof.probes.patching import Patches
from rlprof.probes.telling_names import is_plain
from rlprof.record.source_loops import LARGEST_FILE, parsed
from rlprof.record.targets import Target

WHO: Final = frozenset({"teacher", "expert", "oracle", "demonstrator", "tutor"})
FUNCTIONS: Final = (
    *(f"{who}_{what}" for who in sorted(WHO) for what in ("act", "action", "actions", "policy", "label", "labels")),
    *(f"{verb}_{who}" for who in sorted(WHO) for verb in ("ask", "query")),
    *(f"get_{who}_{what}" for who in sorted(WHO) for what in ("action", "actions", "label", "labels")),
    "scripted_policy", "scripted_action", "heuristic_policy", "heuristic_action",
)  # fmt: skip
ACTING: Final = (
    "act", "action", "get_action", "get_actions", "select_action", "choose_action", "best_action", "predict", "plan",
    "decide", "query", "label", "__call__",
)  # fmt: skip
NAMES: Final = (*FUNCTIONS, *ACTING)

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_is_inside = _core.is_inside
_env_steps = _core.env_steps_here


def timed_teacher(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A span around each call. One in which environments are stepped plays, and only asks itself what to do."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        listed = plays = False

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal listed, plays
            if plays or compiling.is_compiling() or _is_busy(TEACHER) or _is_inside("teacher"):  # marked by the program
                return original(*args, **kwargs)
            before = _env_steps()
            if not before:  # nothing is trained yet
                return original(*args, **kwargs)
            if not listed:
                listed = True
                list_inferred(name, original, "teacher")
            try:
                with _guarded_span("teacher", "policy.teacher", PROBE, TEACHER):
                    return original(*args, **kwargs)
            finally:
                plays = _env_steps() != before

        return call

    return wrap


def watch_teacher_methods(cls: type, patches: Patches, exceptions: Collection[Target]) -> None:
    """A class of the user's was made. If it is no network, its name says whether it teaches, or that of its objects."""
    torch: Any = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is not None and issubclass(cls, module):
        return
    if any(cls.__qualname__ == target.name and is_called(cls.__module__, target.module) for target in exceptions):
        return
    plain = [name for name in ACTING if is_plain(vars(cls).get(name))]
    if plain and (teaches(cls.__name__) or _is_made_as_one(cls)):
        for name in plain:
            patches.method_if_allowed(cls, name, timed_teacher(f"{cls.__module__}:{cls.__qualname__}.{name}"))


def teaches(name: str) -> bool:
    """Whether one of the words in a name is a teacher's."""
    return any(word.lower() in WHO for word in _WORDS.findall(name))


def _is_made_as_one(cls: type) -> bool:
    """Whether the script, or the module of the class, has `teacher = Planner(...)` for it, or the same by keyword."""
    modules = (sys.modules.get("__main__"), sys.modules.get(cls.__module__))
    files = {getattr(module, "__dict__", {}).get("__file__") for module in modules}
    return any(cls.__name__ in made_as_teachers(file) for file in files if isinstance(file, str) and is_own_file(file))


@functools.lru_cache(maxsize=256)
def made_as_teachers(file: str) -> frozenset[str]:
    """The classes whose objects get a teacher's name in a file: `teacher = Planner()`, `teacher=Planner()`."""
    try:
        if os.path.getsize(file) > LARGEST_FILE:
            return frozenset()
        with open(file, encoding="utf-8") as opened:
            tree = parsed(opened.read())
    except (OSError, ValueError):
        return frozenset()
    made: set[str] = set()
    for node in ast.walk(tree):
        given: list[tuple[Any, Any]] = []
        if isinstance(node, ast.Assign):
            given = [pair for target in node.targets for pair in _pairs(target, node.value)]
        elif isinstance(node, ast.AnnAssign | ast.keyword):
            given = [(node.target if isinstance(node, ast.AnnAssign) else node, node.value)]
        made.update(_name(value.func) for name, value in given if isinstance(value, ast.Call) and teaches(_name(name)))
    return frozenset(made - {""})


def _pairs(target: Any, value: Any) -> list[tuple[Any, Any]]:
    several, values = getattr(target, "elts", None), getattr(value, "elts", None)
    if several is None:
        return [(target, value)]
    return list(zip(several, values, strict=False)) if values is not None else []


def _name(node: Any) -> str:
    """The last part of a name, an attribute or a keyword."""
    return next((text for key in ("id", "attr", "arg") if isinstance(text := getattr(node, key, None), str)), "")
