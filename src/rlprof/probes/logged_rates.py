"""Rates that a program logs of itself (SB3's `time/fps`, CleanRL's `charts/SPS`): what it said, when, and where.

Whether such a rate is one of the last moments or of the whole run is for analysis to find out from the values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.probes.callers import users_place
from rlprof.probes.patching import Patches
from rlprof.record.noted import before_flush, note

#: Which scalars are kept at all: there may be hundreds of others.
_RATE: Final = re.compile(r"(^|[^a-z])([fs]ps|its?[/_]s|[a-z_]*(steps?|frames?)_?(per_?s(ec)?|/s))", re.IGNORECASE)
MOST_TAGS: Final = 16
MOST_VALUES: Final = 64
FACT: Final = "logged_rates"

_clock = _core.clock_ns


class LoggedRates:
    """The rates that this process has logged. Long courses keep every second value, and always the last."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._is_rate: dict[str, bool] = {}
        self._values: dict[str, list[tuple[int, float]]] = {}
        self._places: dict[str, tuple[str, int, str]] = {}
        self._changed = False

    def see(self, tag: Any, value: Any) -> None:
        """A scalar is logged. Nothing in here may fail."""
        try:
            if self._is_rate[tag]:
                self._keep(tag, value)
        except KeyError:
            self._is_rate[tag] = len(self._is_rate) < 1000 and bool(_RATE.search(str(tag)))
            if self._is_rate[tag]:
                self.see(tag, value)
        except Exception:  # a tag that has no hash, a value that is no number
            return

    def see_all(self, values: Any) -> None:
        """Scalars are logged together, by name."""
        if isinstance(values, dict):
            for tag, value in list(values.items()):
                self.see(tag, value)

    def _keep(self, tag: str, value: Any) -> None:
        if type(value).__module__.partition(".")[0] == "torch":
            return  # asking a tensor for its value may wait for a device
        number = float(value)
        rows = self._values.get(tag)
        if rows is None:
            if len(self._values) >= MOST_TAGS:
                return
            rows = self._values[tag] = []
            self._places[tag] = users_place()
        if len(rows) >= MOST_VALUES:
            del rows[1::2]
        rows.append((_clock(), number))
        self._changed = True

    def watch(self, patches: Patches) -> None:
        """Write what is seen with every flush, until the patches are undone."""
        if self.write in before_flush:
            return
        before_flush.append(self.write)
        patches.on_undo(self._stop)

    def _stop(self) -> None:
        if self.write in before_flush:
            before_flush.remove(self.write)
        self.forget()

    def write(self) -> None:
        """Hand what was seen to the recording."""
        if self._changed:
            self._changed = False
            note(FACT, [self._fact(tag) for tag in list(self._values)])

    def _fact(self, tag: str) -> dict[str, Any]:
        file, line, function = self._places[tag]
        values = [[at, value] for at, value in list(self._values[tag])]
        return {"tag": tag, "file": file, "line": line, "function": function, "values": values}


rates: Final = LoggedRates()


def noting_scalar(original: Callable[..., Any]) -> Callable[..., Any]:
    """Around a method that is given a name and a value."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 2:  # by name, what they mean is the library's to say
            rates.see(args[1], args[2])
        return original(*args, **kwargs)

    return call


def noting_scalars(original: Callable[..., Any]) -> Callable[..., Any]:
    """Around a method that is given values by name, in one dictionary."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1:
            rates.see_all(args[1])
        return original(*args, **kwargs)

    return call
