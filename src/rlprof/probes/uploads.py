"""torch: how many bytes each line of the program sends from the host to a device with `.to()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof.model.own_files import is_users
from rlprof.probes.patching import Patches
from rlprof.record.noted import before_flush, note

FACT: Final = "uploads"
MOST_PLACES: Final = 64


class Uploads:
    """Calls and bytes by place. A place is asked for only where something is uploaded: without a device, never."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, int], list[int]] = {}
        self._changed = False

    def see(self, tensor: Any, frame: Any) -> None:
        """A tensor is about to be copied to a device. Nothing in here may fail."""
        try:
            while frame is not None and not is_users(frame.f_code.co_filename):
                frame = frame.f_back
            if frame is None:
                return
            place = (frame.f_code.co_filename, frame.f_lineno)
            found = self._sums.get(place)
            if found is None:
                if len(self._sums) >= MOST_PLACES:
                    return
                found = self._sums[place] = [0, 0]
            found[0] += 1
            found[1] += int(tensor.numel()) * int(tensor.element_size())
            self._changed = True
        except Exception:  # a tensor of anybody's making
            return

    def watch(self, patches: Patches) -> None:
        before_flush.append(self.write)
        patches.on_undo(self._stop)

    def _stop(self) -> None:
        stopped: Callable[[], None] = self.write
        if stopped in before_flush:
            before_flush.remove(stopped)

    def write(self) -> None:
        """Hand what was seen to the recording."""
        if self._changed:
            self._changed = False
            sums = list(self._sums.items())
            note(FACT, [{"file": f, "line": n, "calls": calls, "bytes": size} for (f, n), (calls, size) in sums])
