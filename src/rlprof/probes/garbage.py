"""Garbage collections: spans of their own, taken off whatever they interrupt."""

from __future__ import annotations

import gc
from threading import get_ident
from types import ModuleType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.patching import Patches
from rlprof.record.background import OWN_THREADS

LIBRARY: Final = "gc"

_span = _core.span_of_kind
_NAMES: Final = ("gc generation 0", "gc generation 1", "gc generation 2")


class _Collections:
    """The interpreter tells of a collection when it starts and when it stops; there is never more than one.

    Those before the first span of anything else belong to starting up, which is mostly imports: they say nothing about
    training, and are left where the rest of the start is.
    """

    def __init__(self) -> None:
        self._open: Any = None
        self._begun = False

    def __call__(self, when: str, info: dict[str, int]) -> None:
        if when == "start":
            if get_ident() in OWN_THREADS or not (self._begun or self._has_begun()):
                return
            self._open = span = _span(_NAMES[info["generation"]], "gc", PROBE)
            span.__enter__()
        else:
            self.close()

    def _has_begun(self) -> bool:
        self._begun = bool(_core.paths_since(1))  # 0 is the root of the first thread
        return self._begun

    def close(self) -> None:
        span, self._open = self._open, None
        if span is not None:
            span.__exit__(None, None, None)


def install(module: ModuleType, patches: Patches) -> None:
    collections = _Collections()
    callbacks: list[Any] = module.callbacks
    callbacks.append(collections)

    def remove() -> None:
        if collections in callbacks:
            callbacks.remove(collections)
        collections.close()

    patches.on_undo(remove)


#: `gc` is part of the interpreter and there from the start: nothing has to be waited for.
WATCHED: Final = {gc.__name__: install}
