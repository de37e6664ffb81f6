"""Spans named by the place that makes a call: `.item() train.py:123`, found again in a few steps.

A function of C says where a warning comes from by the frame that called it. So the call itself is made by a function
that stands, by its file, line and module, where the user's own call stands: warnings name the user's line, and come as
often as without us.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from rlprof import _core

MOST_SITES: Final = 200  # named ones; what further places call is put together under one name
MOST_KNOWN: Final = 5000  # places found at once, those that are passed over among them
MORE: Final = "(more places)"
OWN_FOLDER: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
DEMOS_FOLDER: Final = os.path.join(OWN_FOLDER, "demos", "")  # programs as users write them: not ours to pass over

Function = Callable[..., Any]
Site = tuple[str | None, Function]  # its name, None where it is passed over; and what makes the call there


def _ignore(code: CodeType) -> None:
    return None


class Sites:
    """The places from which some functions are called. Calls from files below `passed_over` are nobody's."""

    def __init__(self, *passed_over: str, made: Callable[[CodeType], Any] | None = None) -> None:
        self._passed_over = passed_over
        self.made = made or _ignore  # told of every piece of code that is made to be put in between
        self._names: set[str] = set()
        self._kept: list[CodeType] = []  # an address stands for a code object only as long as that is there

    def name(self, what: str, frame: FrameType) -> str | None:
        """What a call from this place is named; None where it is passed over."""
        file = frame.f_code.co_filename
        if file.startswith(self._passed_over) and not file.startswith(DEMOS_FOLDER):
            return None
        name = f"{what} {short_path(file)}:{frame.f_lineno}"
        if name not in self._names:
            if len(self._names) >= MOST_SITES:
                return f"{what} {MORE}"
            self._names.add(name)
        return name

    def find(self, what: str, frame: FrameType) -> tuple[str | None, bool]:
        """The name of a call from this place, and whether the place can be remembered."""
        return self.name(what, frame), self.keep(frame.f_code)

    def keep(self, code: CodeType) -> bool:
        """Whether there is room to find one more place at once; its code stays then."""
        if len(self._kept) >= MOST_KNOWN:
            return False
        self._kept.append(code)
        return True


class Call:
    """One function that is called from places. `known` finds a site by the address of the code and the instruction."""

    def __init__(self, sites: Sites, what: str, original: Function, form: str = "*args, **kwargs") -> None:
        self.known: dict[tuple[int, int], Site] = {}
        self._sites = sites
        self._what = what
        self._original = original
        self._source = f"lambda original: lambda {form}: original({form})"

    def find(self, frame: FrameType) -> Site:
        """The site of a place that is not known yet."""
        name = self._sites.name(self._what, frame)
        known = self._sites.keep(frame.f_code)
        site = (name, self._standing_at(frame) if name is not None and known else self._original)
        if known:
            self.known[id(frame.f_code), frame.f_lasti] = site
        return site

    def _standing_at(self, frame: FrameType) -> Function:
        """The original, called from a function that has the place's file, line and module."""
        code = frame.f_code
        source = compile("\n" * (frame.f_lineno - 1) + self._source, code.co_filename, "eval")
        self._sites.made(source)
        outer = eval(source)
        self._sites.made(outer.__code__)
        made = outer(self._original)
        standing = made.__code__.replace(co_name=code.co_name)
        self._sites.made(standing)
        return FunctionType(standing, frame.f_globals, code.co_name, None, made.__closure__)


@dataclass(frozen=True)
class Tensors:
    """What is asked of the library whose tensors these are."""

    is_watched: Callable[[Any], bool]  # whether somebody watches each attribute of this tensor that is asked for
    unwatched: Callable[[], AbstractContextManager[Any]]  # in which nobody does

    def is_away(self, tensor: Any) -> bool:
        """Whether a tensor that is watched is not the CPU's."""
        with self.unwatched():
            return not tensor.is_cpu


def counted_method(sites: Sites, what: str, original: Function, phase_away: str, tensors: Tensors) -> _core.Counted:
    """A tensor's method, counted by place; `phase_away` is for tensors that are not the CPU's."""
    find = functools.partial(sites.find, what)
    return _core.Counted(original, find, is_watched=tensors.is_watched, is_away=tensors.is_away, phase_away=phase_away)


def short_path(file: str) -> str:
    """A file's path as people say it: below the folder of installed packages, of demos, or below the current one."""
    if file.startswith(DEMOS_FOLDER):
        return file.removeprefix(DEMOS_FOLDER)
    for folder in ("site-packages", "dist-packages"):
        _, found, rest = file.rpartition(f"{os.sep}{folder}{os.sep}")
        if found:
            return rest
    try:
        here = os.getcwd() + os.sep
    except OSError:  # it was removed
        return file
    return file.removeprefix(here)
