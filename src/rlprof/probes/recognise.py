"""Classes of the program that follow no library, recognised by the methods they have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

from rlprof.probes.advantages import NAMES as ADVANTAGE_NAMES
from rlprof.probes.buffer_guess import ADDING, timed_add, timed_sample
from rlprof.probes.env_guess import timed_render, timed_reset, timed_step
from rlprof.probes.evaluations import NAMES as EVALUATION_NAMES
from rlprof.probes.guesses import Guess
from rlprof.probes.named_functions import is_named
from rlprof.probes.own_code import is_called, is_own_class, is_own_function
from rlprof.probes.patching import Patches, is_patched
from rlprof.probes.policy_methods import NAMES as POLICY_NAMES
from rlprof.probes.teachers import NAMES as TEACHER_NAMES
from rlprof.record.targets import Target

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
Methods = dict[str, Callable[[Guess], Wrap]]

ENV: Final = "env"
BUFFER: Final = "buffer"
_METHODS: Final[dict[str, Methods]] = {
    ENV: {"step": timed_step, "reset": timed_reset, "render": timed_render},
    BUFFER: {"sample": timed_sample, **dict.fromkeys(ADDING, timed_add)},
}
#: A class that defines none of these is nothing for anybody here.
_TELLING: Final = frozenset(
    {"step", "reset", "sample", *ADDING, *ADVANTAGE_NAMES, *EVALUATION_NAMES, *POLICY_NAMES, *TEACHER_NAMES}
)


def tells_something(cls: type) -> bool:
    return not _TELLING.isdisjoint(vars(cls))


class Recognition:
    """Guesses about the classes seen so far. A derived class shares the guess about its base."""

    def __init__(self, patches: Patches, exceptions: Mapping[str, Collection[Target]]) -> None:
        self._patches = patches
        self._exceptions = exceptions
        self._guesses: dict[str, WeakKeyDictionary[type, Guess]] = {role: WeakKeyDictionary() for role in _METHODS}
        patches.on_undo(self._let_go)

    def made(self, cls: type) -> None:
        """A class of the user's was made."""
        if self._is_covered(cls):
            return
        for role in _roles(cls):
            if not self._is_exception(cls, self._exceptions.get(role, ())):
                self._wrap(cls, role)

    def _wrap(self, cls: type, role: str) -> None:
        guesses = self._guesses[role]
        guess = next((guesses[base] for base in cls.__mro__ if base in guesses), None) or Guess(role, self._patches)
        if guess.over:
            guess = Guess(role, self._patches)
        guesses[cls] = guess
        for name, timed in _METHODS[role].items():
            for owner in cls.__mro__:
                if name in vars(owner):
                    if _may_wrap(vars(owner)[name]) and self._patches.method_if_allowed(owner, name, timed(guess)):
                        guess.wrapped(owner, name)
                    break

    def _is_covered(self, cls: type) -> bool:
        """Whether another probe looks after the class, or after one it is derived from."""
        others = (base for base in cls.__mro__ if not is_own_class(base))
        return any(is_patched(value) for base in others for value in vars(base).values())

    def _is_exception(self, cls: type, exceptions: Collection[Target]) -> bool:
        return any(
            base.__qualname__ == target.name and is_called(base.__module__, target.module)
            for target in exceptions
            for base in cls.__mro__
        )

    def _let_go(self) -> None:
        """Also what was copied out of our sight, as `dataclass(slots=True)` does, now only passes through."""
        for guesses in self._guesses.values():
            for guess in list(guesses.values()):
                guess.over = True


def _roles(cls: type) -> Iterator[str]:
    has = {name for base in cls.__mro__ for name, value in vars(base).items() if callable(value)}
    if {"step", "reset"} <= has:
        yield ENV
    if "sample" in has and not has.isdisjoint(ADDING):
        yield BUFFER


def _may_wrap(value: Any) -> bool:
    return is_own_function(value) and not is_named(value) and not getattr(value, "__isabstractmethod__", False)
