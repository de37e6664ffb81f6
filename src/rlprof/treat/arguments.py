"""What may stand behind the name of a treatment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlprof.model.errors import BadOption

Check = Callable[[str], None]


def nothing(name: str) -> Check:
    def check(argument: str) -> None:
        if argument:
            raise BadOption(f"the treatment {name} takes nothing behind it")

    return check


def one_of(name: str, choices: Sequence[str]) -> Check:
    def check(argument: str) -> None:
        if argument not in choices:
            raise BadOption(f"the treatment {name} is written {name}={'|'.join(choices)}")

    return check


def whole_number(name: str, most: int) -> Check:
    def check(argument: str) -> None:
        if not (argument.isascii() and argument.isdecimal() and len(argument) <= 6 and 1 <= int(argument) <= most):
            raise BadOption(f"the treatment {name} takes a number from 1 to {most}: {name}=1")

    return check


def always(lines: str) -> Callable[[str], str]:
    """Lines of code that do not depend on the argument."""
    return lambda _: lines
