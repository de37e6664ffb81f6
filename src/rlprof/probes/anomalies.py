"""torch: which line switched autograd's anomaly detection on. Its warning about that names the caller, so only the call
that gives none is watched: `with detect_anomaly():` is a line that the stacks show anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from rlprof.probes.callers import users_place
from rlprof.probes.patching import Patches
from rlprof.record.noted import note

LIBRARY: Final = "torch's anomaly detection"
ASKED: Final = "anomaly_detection_asked"  # the fact: where a line switched it on


def _noting(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if args[:1] == (True,) or kwargs.get("mode") is True:
            file, line, function = users_place()
            if line:
                note(ASKED, {"file": file, "line": line, "function": function})
        return original(self, *args, **kwargs)

    return call


def install(module: ModuleType, patches: Patches) -> None:
    """`torch` is loaded."""
    torch: Any = module
    patches.method(torch.autograd.set_detect_anomaly, "__init__", _noting)


WATCHED: Final = {"torch": install}
