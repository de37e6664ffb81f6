"""Words of a command line by what they set: a change replaces them, and two changes can be seen to collide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rlprof.experiments.investigate.plan import BadPlan

_PYTHON: Final = re.compile(r"(?:.*[\\/])?python[\d.]*(?:\.exe)?")
#: Options of Python itself that stand before the script and take no value.
_PYTHON_FLAGS: Final = re.compile(r"-[bBdEiIOPqsSuvx]+")
_NUMBER: Final = re.compile(r"-[\d.]")
#: What hydra and its kin take: `optimizer.lr=0.1`, `+trainer=gpu`.
_ASSIGNED: Final = re.compile(r"(?P<name>[+~]{0,2}[A-Za-z_][\w./@-]*)=")


@dataclass(frozen=True, slots=True)
class Setting:
    """An option with its values, an assignment, or a word by itself. `words` is how it was written."""

    name: str
    words: tuple[str, ...]

    @property
    def has_name(self) -> bool:
        """Whether it can be said twice, so that one must give way to the other."""
        return is_option(self.name) or self.words != (self.name,)

    @property
    def key(self) -> str:
        """`--no-turbo` and `--turbo` set one thing."""
        return self.name.replace("--no-", "--", 1) if self.name.startswith("--no-") else self.name.lstrip("+~")


def is_option(word: str) -> bool:
    return word.startswith("-") and word != "-" and not _NUMBER.match(word)


def without_python(words: Sequence[str]) -> list[str]:
    """The words behind `rlprof run`; none where the program cannot be named by them."""
    left = list(words)
    if left and _PYTHON.fullmatch(left[0]):
        left = left[1:]
        while left and _PYTHON_FLAGS.fullmatch(left[0]):
            left = left[1:]
    return [] if not left or left[0] in ("-c", "-") else left


def settings_of(words: Sequence[str]) -> Iterator[Setting]:
    """What some words set. Words behind an option, up to the next one, are its values."""
    at = 0
    while at < len(words):
        word, end = words[at], at + 1
        assigned = _ASSIGNED.match(word)
        if is_option(word):
            name, equals, _ = word.partition("=")
            while not equals and end < len(words) and not is_option(words[end]):
                end += 1
            yield Setting(name, tuple(words[at:end]))
        else:
            yield Setting(assigned["name"] if assigned else word, (word,))
        at = end


def changed_words(command: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
    """The command with settings taken out, and others replaced or added at its end."""
    head = 2 if command[0] == "-m" else 1
    words = list(command[head:])
    for setting in settings_of(remove):
        left = _without(words, setting)
        if left == words:
            raise BadPlan(f"the baseline's command has no {setting.name} that could be removed")
        words = left
    for setting in settings_of(add):
        words = [*(_without(words, setting) if setting.has_name else words), *setting.words]
    return (*command[:head], *words)


def _without(words: list[str], setting: Setting) -> list[str]:
    """All words of this setting taken out: as many values as it has itself, for what follows may be somebody else's."""
    kept: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if is_option(setting.name):
            if word.partition("=")[0] != setting.name:
                kept.append(word)
            elif "=" not in word:
                most = at + max(len(setting.words) - 1, "=" in setting.words[0])
                while at < min(most, len(words)) and not is_option(words[at]):
                    at += 1
        elif not (word == setting.name or word.startswith(f"{setting.name}=")):
            kept.append(word)
    return kept
