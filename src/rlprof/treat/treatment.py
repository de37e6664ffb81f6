"""What a treatment is: how it is written, what it may change, how it is applied and how it is made permanent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from rlprof.probes.patching import Patches


class Scene(Protocol):
    """What a treatment has at hand in the process that it is applied to."""

    patches: Patches

    def when_loaded(self, module: str, act: Callable[[Any], None]) -> None:
        """Act once the program has imported a module; at once where it has already."""

    def applied(self) -> None:
        """Say that it has taken effect."""

    def waits(self, why: str) -> None:
        """Say what it still needs, which is the reason that is given if that never comes."""

    def refuse(self, why: str) -> None:
        """Say that it cannot be applied, and why."""


Loaded = Callable[[ModuleType], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of treatment. `changes_results`: what is learned, or what comes out, may be another beyond rounding."""

    id: str
    form: str  # how a person writes it
    summary: str
    needs: tuple[str, ...]  # it has nothing to do in a program that imports none of these; none: it always has
    apply: Callable[[str, Scene], None]
    permanent: Callable[[str], str]  # lines of code, from the argument
    check: Callable[[str], None]  # of the argument: raises BadOption
    changes_results: bool = False
    diagnosis_only: bool = False


@dataclass(frozen=True, slots=True)
class Treatment:
    """A kind with its argument, as a person wrote it."""

    text: str
    kind: Kind
    argument: str

    @property
    def permanent(self) -> str:
        """The lines of code that make it permanent."""
        return self.kind.permanent(self.argument)
