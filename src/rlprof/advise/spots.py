"""The one place in the user's code that most of a part of the ledger went to: a function, a loop inside of the training
loop, or a line of the training loop itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from rlprof.advise.lines import own_lines
from rlprof.analyse.inner_loops import TRAINING, InnerLoop, InnerLoops
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import Name, shares_of_functions
from rlprof.model.recording import Recording
from rlprof.model.report import Drilldown, LineEntry


@dataclass(frozen=True, slots=True)
class Spot:
    """The lines of a function, or of a loop in it that trains nothing, or one line of the training loop.

    Those of the training loop are about different things, and count one by one.
    """

    lines: tuple[LineEntry, ...]
    in_loop: bool
    loop: InnerLoop | None = None

    @property
    def seconds(self) -> float:
        return sum(line.seconds for line in self.lines)


def loop_functions(recording: Recording) -> set[Name]:
    """A function that environments are stepped below, or networks asked, is the training loop itself."""
    account = open_account(recording.main)
    return {name for part in TRAINING for name in shares_of_functions(account, part)}


def spot_of(recording: Recording, drilled: Drilldown) -> Spot:
    """The spot with most of the time; without lines where samples lead to none of the user's."""
    return max(spots_of(recording, drilled), key=lambda spot: spot.seconds, default=Spot((), in_loop=False))


def spots_of(recording: Recording, drilled: Drilldown) -> list[Spot]:
    trains, inner = loop_functions(recording), InnerLoops(recording)
    groups: dict[tuple[str, str, int, InnerLoop | None], list[LineEntry]] = {}
    for line in own_lines(drilled):
        inside = (line.file, line.function) in trains
        loop = inner.around(line.file, line.line) if inside else None
        key = (line.file, line.function, line.line if inside and loop is None else 0, loop)
        groups.setdefault(key, []).append(line)
    return [Spot(tuple(lines), in_loop=bool(line), loop=loop) for (_, _, line, loop), lines in groups.items()]
