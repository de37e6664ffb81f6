"""A recording that lasts as long as a training run, unless one is going on anyway."""

from __future__ import annotations

import os
from pathlib import Path

from rlprof import _core
from rlprof.profiler import get_profiler
from rlprof.record.session import current_session
from rlprof.record.turns import infer_turn


class OwnRecording:
    """Begun and ended by a framework's hooks. Inside `rlprof run`, or after `start()`, there is nothing to begin."""

    def __init__(self, path: str | os.PathLike[str] | None, probes: bool, overwrite: bool) -> None:
        self._path = path
        self._probes = probes
        self._overwrite = overwrite
        self._ours = False

    def start(self) -> bool:
        """Whether probes look on: they count what there is to count."""
        session = current_session()
        if session is not None:
            return session.options.probes
        get_profiler().start(self._path, probes=self._probes, overwrite=self._overwrite)
        self._ours = True
        return self._probes

    def stop(self) -> Path | None:
        """The finished file; None where the recording is somebody else's and goes on."""
        if not self._ours:
            return None
        self._ours = False
        return get_profiler().stop()


def turn() -> None:
    """The loop turns here: whatever the order of events would say about it later is known already."""
    infer_turn()
    _core.set_updated(False)
