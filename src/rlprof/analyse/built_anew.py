"""Environments that are built while the program trains: the constructors of classes whose steps were seen."""

from __future__ import annotations

from rlprof.analyse.ledger import Account
from rlprof.analyse.seen import Seen, seen_in_training
from rlprof.analyse.stacks import lines_on_stacks, shares_of_functions
from rlprof.model.own_files import is_users
from rlprof.model.recording import Frame
from rlprof.model.report import Report

_STEPS = frozenset({"step", "reset"})
_BUILDS = "__init__"


def built_anew(account: Account, report: Report) -> Seen:
    """By the user's lines that have them built."""
    classes = {
        (file, owner)
        for part in ("env.step", "env.reset")
        for file, function in shares_of_functions(account, part)
        for owner, _, name in [function.rpartition(".")]
        if owner and name in _STEPS
    }
    stepping = {line for part in ("env.step", "env.reset") for line in lines_on_stacks(account, part)}

    def building(stack: list[Frame]) -> Frame | None:
        found = False
        for frame in stack:
            owner, _, name = frame.function.rpartition(".")
            if name == _BUILDS and (frame.file, owner) in classes:
                found = True
            elif found and is_users(frame.file) and name != _BUILDS:
                # A reset that builds what is in the environment anew belongs to the reset.
                return None if (frame.file, frame.line) in stepping else frame
        return None

    return seen_in_training(account, report, building) if classes else Seen()
