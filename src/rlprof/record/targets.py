"""Functions and classes of the program that a person names: `module:function`, `module:Class.method`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rlprof.model.errors import BadOption
from rlprof.model.phases import PHASES, is_phase

_DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_TARGET: Final = re.compile(rf"(?P<module>{_DOTTED}):(?P<name>{_DOTTED})")


@dataclass(frozen=True, slots=True)
class Target:
    """What is named, and the phase its time belongs to; None leaves it in the phase around it."""

    module: str
    name: str
    phase: str | None = None

    @property
    def text(self) -> str:
        return f"{self.module}:{self.name}"


def parse_span(text: str) -> Target:
    """Read `module:Class.method=phase`; the phase may be left out."""
    place, equals, phase = text.partition("=")
    found = _TARGET.fullmatch(place.strip())
    if found is None:
        raise BadOption(f"'{text}' names no function: write module:function or module:Class.method, then =phase")
    if equals and not is_phase(phase.strip()):
        raise BadOption(f"'{text}' names a phase that does not exist; phases are: {', '.join(PHASES)}")
    return Target(found["module"], found["name"], phase.strip() if equals else None)


def parse_name(text: str) -> Target:
    """Read `module:Class` or `module:function`."""
    found = _TARGET.fullmatch(text.strip())
    if found is None:
        raise BadOption(f"'{text}' names no class or function: write module:Class or module:function")
    return Target(found["module"], found["name"])
