"""The one place in the user's code that most of a part of the ledger went to: a function, or a line of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlprof.advise.lines import own_lines
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import Name, shares_of_functions
from rlprof.model.recording import Recording
from rlprof.model.report import Drilldown, LineEntry

#: A function that environments are stepped below, or networks asked, is the training loop itself.
_LOOPS: Final = ("env.step", "policy.forward", "learn.loss", "learn.backward", "learn.optimizer")


@dataclass(frozen=True, slots=True)
class Spot:
    """A function's lines, or one line of a loop: those of a loop are about different things, and count one by one."""

    lines: tuple[LineEntry, ...]
    in_loop: bool

    @property
    def seconds(self) -> float:
        return sum(line.seconds for line in self.lines)


def loop_functions(recording: Recording) -> set[Name]:
    account = open_account(recording.main)
    return {name for part in _LOOPS for name in shares_of_functions(account, part)}


def spot_of(recording: Recording, drilled: Drilldown) -> Spot:
    """The spot with most of the time; without lines where samples lead to none of the user's."""
    loops = loop_functions(recording)
    groups: dict[tuple[str, str, int], list[LineEntry]] = {}
    for line in own_lines(drilled):
        inside = (line.file, line.function) in loops
        groups.setdefault((line.file, line.function, line.line if inside else 0), []).append(line)
    spots = [Spot(tuple(lines), in_loop=bool(line)) for (_, _, line), lines in groups.items()]
    return max(spots, key=lambda spot: spot.seconds, default=Spot((), in_loop=False))
