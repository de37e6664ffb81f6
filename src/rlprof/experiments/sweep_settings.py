"""From parameters and a command with placeholders to the arms of a sweep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from rlprof.experiments.arms import Arm, ArmsJournal
from rlprof.experiments.logbook import NoExperiment
from rlprof.model.errors import BadOption

#: What the libraries read that compute with several threads; torch takes the first.
THREAD_VARIABLES: Final = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
THREADS: Final = "threads"
AFFINITY: Final = "affinity"
ENVIRONMENT: Final = "env:"
#: More settings than this are a slip of the keyboard.
MOST_SETTINGS: Final = 500
_NAME: Final = re.compile(r"(?:env:)?[A-Za-z_][A-Za-z0-9_.-]*")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME: Final = 60

Values = Mapping[str, str]


@dataclass(frozen=True)
class Grid:
    """Parameters with their values, and whether all combinations are run or one is varied at a time."""

    parameters: Mapping[str, tuple[str, ...]]
    one_at_a_time: bool = False

    def settings(self) -> list[dict[str, str]]:
        """All of them, each once. One at a time, the others keep their first value."""
        names = list(self.parameters)
        if not self.one_at_a_time:
            return [dict(zip(names, values, strict=True)) for values in product(*self.parameters.values())]
        first = {name: values[0] for name, values in self.parameters.items()}
        return [first, *({**first, name: value} for name in names for value in self.parameters[name][1:])]


@dataclass
class _Process:
    """What a setting changes about the process of its trial."""

    environment: dict[str, str] = field(default_factory=dict)
    affinity: tuple[int, ...] = ()


def parse_parameters(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`NAME=VALUE,VALUE` each; values that hold commas are parted by semicolons."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, listed = text.partition("=")
        values = tuple(value.strip() for value in listed.split(";" if ";" in listed else ","))
        if not equals or not _NAME.fullmatch(name) or not all(values):
            raise BadOption(f"-p {text} is no parameter with values: for example -p envs=1,8,32")
        if name in found:
            raise BadOption(f"-p {name} is given twice: name all its values at once, as in -p {name}=1,2,4")
        if len(set(values)) < len(values):
            raise BadOption(f"-p {text} has a value twice")
        found[name] = values
    if not found:
        raise BadOption("nothing to vary; for example: rlprof sweep -p envs=1,8,32 -- train.py --envs {envs}")
    return found


def arms_of(grid: Grid, command: Sequence[str]) -> dict[str, tuple[Arm, dict[str, str]]]:
    """Every setting as an arm, by its name, with its values."""
    _check(grid.parameters, command)
    count = prod(len(values) for values in grid.parameters.values())
    if not grid.one_at_a_time and count > MOST_SETTINGS:
        raise BadOption(f"these are {count:,} settings: --one-at-a-time varies one parameter at a time")
    found: dict[str, tuple[Arm, dict[str, str]]] = {}
    for values in grid.settings():
        name = _name(values, found)
        process = _process(values, command)
        words = tuple(_filled(word, values) for word in command)
        found[name] = Arm(name, words, process.environment, affinity=process.affinity), values
    return found


def _check(parameters: Mapping[str, tuple[str, ...]], command: Sequence[str]) -> None:
    used = _placeholders(command)
    for name in parameters:
        if name in used or name in (THREADS, AFFINITY) or name.startswith(ENVIRONMENT):
            continue
        raise BadOption(
            f"nothing takes the parameter {name}: write {{{name}}} where the command has its value, "
            f"or vary {THREADS}, {AFFINITY} or an environment variable (env:{name})"
        )
    for name in sorted(used - set(parameters)):
        raise BadOption(f"the command has {{{name}}}, but there are no values for it: -p {name}=1,2,4")


def _placeholders(command: Sequence[str]) -> set[str]:
    return {name for word in command for name in _PLACEHOLDER.findall(word)}


def _filled(word: str, values: Values) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word)


def _process(values: Values, command: Sequence[str]) -> _Process:
    """The settings that need no help from the program. A placeholder of the same name goes to the program instead."""
    used = _placeholders(command)
    process = _Process()
    for name, value in values.items():
        if name in used:
            continue
        if name == THREADS:
            if not value.isdecimal() or int(value) < 1:
                raise BadOption(f"{value!r} is no number of threads: -p threads=1,2,4")
            process.environment.update(dict.fromkeys(THREAD_VARIABLES, value))
        elif name == AFFINITY:
            process.affinity = processors(value)
        elif name.startswith(ENVIRONMENT):
            process.environment[name.removeprefix(ENVIRONMENT)] = value
    return process


def processors(text: str) -> tuple[int, ...]:
    """`0`, `0-3` or `0+2+4-7` as numbers of processors."""
    found: set[int] = set()
    for part in text.split("+"):
        ends = part.split("-")
        if len(ends) > 2 or not all(end.isdecimal() and len(end) < 6 for end in ends):
            raise BadOption(f"{text!r} names no processors: -p affinity=0,0-1,0+2")
        found.update(range(int(ends[0]), int(ends[-1]) + 1))
    if not found:
        raise BadOption(f"{text!r} names no processors: the lower number comes first")
    return tuple(sorted(found))


def _name(values: Values, taken: Mapping[str, object]) -> str:
    """A name that a file can have: the values themselves where they are short and plain."""
    stem = "+".join(f"{_UNSAFE.sub('-', name)}={_UNSAFE.sub('-', value)}" for name, value in values.items())
    lowered = {name.lower() for name in taken}
    if len(stem) <= _LONGEST_NAME and stem.lower() not in lowered:
        return stem
    return f"setting-{len(taken) + 1:03d}"


def number_of(value: str) -> float | None:
    """The value as a positive whole number, which a law of scaling is about."""
    return float(value) if value.isdecimal() and 0 < int(value) < 10**9 else None


def check_settings(journal: ArmsJournal) -> None:
    """Refuse a journal whose notes about its settings were tampered with."""
    told = journal.plan.settings
    try:
        settings, parameters = told["settings"], told["parameters"]
        whole = set(settings) == set(journal.plan.variants) and isinstance(told["one_at_a_time"], bool)
        for values in settings.values():
            whole = whole and all(values[name] in listed for name, listed in parameters.items())
        whole = whole and all(isinstance(v, str) for listed in parameters.values() for v in listed)
    except (KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise NoExperiment(f"{journal.directory} is damaged: what it says about its settings does not add up")
