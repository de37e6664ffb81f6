"""Functions that play whole episodes beside the training loop, whatever they are called: they test the policy.

The training loop steps an environment itself, and learns. A function that it calls, in which environments are stepped
and networks are asked, which begins episodes of its own and has no part in learning, gathers nothing to learn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rlprof.analyse.ledger import Account
from rlprof.analyse.noted_lines import NotedLines
from rlprof.analyse.seen import Seen, seen_in_training
from rlprof.analyse.stacks import Name, name_of, shares_of_functions, stacks_in
from rlprof.model.own_files import is_ours, is_users
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Report

ENV_STEP: Final = "env.step"
#: Who is seen there has a part in learning.
_LEARNS: Final = ("learn.loss", "learn.backward", "learn.optimizer", "buffer.add", "buffer.sample")
_ASKS: Final = "policy.forward"
#: What the training loop must have of the samples in steps by its own calls: else the functions may gather for it.
SMALLEST_OWN: Final = 0.05


@dataclass(frozen=True, slots=True)
class PlaysBeside:
    function: str
    seen: Seen


def plays_beside(recording: Recording, account: Account, report: Report) -> PlaysBeside | None:
    """The function with most of the time; None where there is none that can be told from the program's own play."""
    learns = {name for part in _LEARNS for name in shares_of_functions(account, part)}
    asks, episodes = shares_of_functions(account, _ASKS), NotedLines(recording, "episodes")
    direct: dict[Name, int] = {}
    above: dict[Name, set[Name]] = {}
    files: dict[Name, bool] = {}
    total = 0
    for stack, count in stacks_in(account, ENV_STEP):
        total += count
        outside = _outside(stack)
        if outside:
            name = name_of(outside[-1])
            direct[name] = direct.get(name, 0) + count
            above.setdefault(name, set()).update(name_of(frame) for frame in outside[:-1])
            files[name] = files.get(name, False) or episodes.has(outside[-1].file, outside[-1].line)
    loops = {name for name, count in direct.items() if name in learns and count >= SMALLEST_OWN * total}
    found = [
        name
        for name in direct
        if name not in learns and name in asks and files[name] and not above[name].isdisjoint(loops)
    ]
    if not found:
        return None
    most = max(found, key=lambda name: direct[name])

    def calling(stack: list[Frame]) -> Frame | None:
        inside = False
        for frame in stack:
            if name_of(frame) == most:
                inside = True
            elif inside and is_users(frame.file):
                return frame
        return None

    return PlaysBeside(most[1], seen_in_training(account, report, calling))


def _outside(stack: list[Frame]) -> list[Frame]:
    """The user's frames from the outermost one inwards, up to the environment's step or a library."""
    found: list[Frame] = []
    for frame in reversed(stack):
        if frame.function.rpartition(".")[2] == "step" or not (is_users(frame.file) or is_ours(frame.file)):
            break
        if is_users(frame.file):
            found.append(frame)
    return found
