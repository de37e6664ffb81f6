"""What a class of the program looks like, until its use confirms or refutes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof.probes.own_code import as_written
from rlprof.probes.patching import Patches
from rlprof.record.noted import note, noted
from rlprof.record.wrap import Function

MISFITS: Final = 3  # calls that do not fit before a guess is given up
MOST_LISTED: Final = 100


class Guess:
    """One guess about a class and those derived from it.

    Classes of the script itself may travel to other processes by value, wrapped methods with them: there the guess
    begins anew, and has nothing to put back.
    """

    def __init__(self, role: str, patches: Patches | None = None) -> None:
        self.role = role
        self.confirmed = False
        self.over = False  # refuted, or everything was put back: wrappers that are left only pass through
        self.fits = 0
        self.misfits = 0
        self.pending = 0  # env steps of calls that were watched before the guess was confirmed
        self.first: Any = None  # what an environment's first observation was like; whether a buffer was added to
        self.of_many = False  # of an environment: whether its actions and observations are of many
        self._patches = patches
        self._wrapped: list[tuple[type, str]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Guess, (self.role,)

    def wrapped(self, owner: type, name: str) -> None:
        self._wrapped.append((owner, name))

    def confirm(self, instance: Any, original: Any) -> None:
        if not self.confirmed:
            self.confirmed = True
            cls = type(instance)
            list_inferred(f"{cls.__module__}:{cls.__qualname__}", original, self.role)

    def misfit(self) -> None:
        self.misfits += 1
        if self.misfits >= MISFITS:
            self.refute()

    def refute(self) -> None:
        """The class is something else: from now on it costs nothing."""
        self.over = True
        for owner, name in self._wrapped:
            if self._patches is not None:
                self._patches.put_back(owner, name)
        self._wrapped.clear()


class Anew:
    """A call made from the program's own, `make(guess, original)`, and made anew in a process that it is sent to: the
    core sends its functions as what was there before them.
    """

    __slots__ = ("_guess", "_make", "_original", "call")

    def __init__(self, make: Callable[[Guess, Function], Function], guess: Guess, original: Function) -> None:
        self._make, self._guess, self._original = make, guess, original
        self.call = make(guess, original)

    def __reduce__(self) -> tuple[Any, ...]:
        return Anew, (self._make, self._guess, self._original)


def list_inferred(name: str, function: Any, role: str) -> None:
    """Say in the recording what was taken for what, and where its code is."""
    listed: list[dict[str, Any]] = list(noted().get("inferred", ()))
    code = as_written(function).__code__
    entry = {
        "name": name.replace("__mp_main__:", "__main__:"),  # what a spawned worker calls the script
        "file": code.co_filename,
        "line": code.co_firstlineno,
        "role": role,
    }
    if entry not in listed and len(listed) < MOST_LISTED:
        note("inferred", [*listed, entry])
