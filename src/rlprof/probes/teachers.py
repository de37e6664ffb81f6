"""Scripted teachers of the program: functions and methods that say which action an expert would take.

Some are known by their names. A method `act` may be anybody's: its class, or the name that the program has for the
object it asks, says whether it teaches. Those that turn out not to are put back at their first call.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.groups import TEACHER
from rlprof.probes.guesses import list_inferred
from rlprof.probes.own_code import is_called
from rlprof.probes.patching import Patches
from rlprof.probes.telling_names import is_plain
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
_getframe = sys._getframe
_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_env_steps = _core.env_steps_here


def timed_teacher(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A span around each call. One in which environments are stepped plays, and only asks itself what to do."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        listed = plays = False

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal listed, plays
            if plays or compiling.is_compiling() or _is_busy(TEACHER):
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
    """A class of the user's was made. If it is no network, its name says whether it teaches, or its first use does."""
    torch: Any = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if module is not None and issubclass(cls, module):
        return
    if any(cls.__qualname__ == target.name and is_called(cls.__module__, target.module) for target in exceptions):
        return
    for name in ACTING:
        if is_plain(vars(cls).get(name)):
            timed = timed_teacher(f"{cls.__module__}:{cls.__qualname__}.{name}")
            patches.method_if_allowed(
                cls, name, timed if teaches(cls.__name__) else _asked_as(cls, name, timed, patches)
            )


def teaches(name: str) -> bool:
    """Whether one of the words in a name is a teacher's."""
    return any(word.lower() in WHO for word in _WORDS.findall(name))


def _asked_as(
    cls: type, method: str, timed: Callable[[Any], Callable[..., Any]], patches: Patches
) -> Callable[[Any], Callable[..., Any]]:
    """Decides at the first call, by what the caller calls the object."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        settled: Callable[..., Any] | None = None

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal settled
            if settled is None:
                if teaches(_asked(_getframe(1), method)):
                    settled = timed(original)
                else:
                    settled = original
                    patches.put_back(cls, method)
            return settled(*args, **kwargs)

        return call

    return wrap


def _asked(frame: FrameType, method: str) -> str:
    """What stands before the name of the method in the caller's line, as `self.teacher` in `self.teacher.act(obs)`."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
    called = r"([\w.]+)(?:\[[^\]]*\])?" + ("" if method == "__call__" else rf"\.{method}") + r"\("
    return " ".join(re.findall(called, line))
