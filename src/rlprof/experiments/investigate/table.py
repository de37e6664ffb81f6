"""A table of a plan, whose values are taken one by one and checked."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rlprof.experiments.investigate.plan import BadPlan
from rlprof.model.clean import clean_text

T = TypeVar("T")


class Table:
    """A table of the plan with the place where it stands; every value is taken once and checked."""

    def __init__(self, place: str, data: Mapping[str, Any], known: Sequence[str]) -> None:
        self.place = place
        self._data = data
        for key in data:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; it knows {', '.join(known)}"
                raise self.wrong(f"there is no key {clean_text(str(key), 60)!r} here{hint}")

    def wrong(self, what: str) -> BadPlan:
        return BadPlan(f"{self.place}: {what}")

    def has(self, key: str) -> bool:
        return key in self._data

    def text(self, key: str, default: str | None = None) -> str:
        return self._take(key, str, "a text in quotes", default)

    def flag(self, key: str, default: bool | None = None) -> bool:
        return self._take(key, bool, "true or false", default)

    def number(self, key: str, fits: Callable[[float], bool], range_: str, default: float | None = None) -> float:
        value = self._take(key, (int, float), f"a number {range_}", default)
        if isinstance(value, bool) or not fits(value):  # NaN fits nowhere
            raise self.wrong(f"{key} is a number {range_}, not {self._shown(key)}")
        return float(value)

    def whole(self, key: str, least: int, default: int) -> int:
        value = self._take(key, int, f"a whole number from {least} on", default)
        if isinstance(value, bool) or value < least or value > 1_000_000:
            raise self.wrong(f"{key} is a whole number from {least} on, not {self._shown(key)}")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """A command line: one text, or its words in a list."""
        value = self._data.get(key, [])
        if isinstance(value, str):
            try:
                value = shlex.split(value)
            except ValueError as error:
                raise self.wrong(f"{key} cannot be split into words: {error}") from None
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self.wrong(f"{key} is a text or a list of texts, not {self._shown(key)}")
        if any("\0" in word for word in value):
            raise self.wrong(f"{key} holds a NUL character, which no command can")
        return tuple(value)

    def listed(self, key: str) -> tuple[str, ...]:
        """Texts that are no command line: one, or a list of them."""
        value = self._data.get(key, [])
        return (value,) if isinstance(value, str) else self.words(key)

    def texts(self, key: str) -> dict[str, str]:
        """A table whose values are texts."""
        value = self._data.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self.wrong(f'{key} is a table of texts such as {{ OMP_NUM_THREADS = "1" }}, not {self._shown(key)}')
        return dict(value)

    def table(self, key: str, known: Sequence[str]) -> Table:
        value = self._data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} is a table, not {self._shown(key)}")
        return Table(f"{self.place}, {key}", value, known)

    def _take(self, key: str, kind: type[T] | tuple[type, ...], said: str, default: T | None) -> T:
        if key not in self._data:
            if default is None:
                raise self.wrong(f"{key} is missing: {said}")
            return default
        value = self._data[key]
        if not isinstance(value, kind):
            raise self.wrong(f"{key} is {said}, not {self._shown(key)}")
        return value  # type: ignore[return-value]

    def _shown(self, key: str) -> str:
        return clean_text(repr(self._data.get(key)), 60)
