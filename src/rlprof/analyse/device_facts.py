"""What a trace said about the device, as the recording holds it: figures that are not whole count for nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rlprof.model.recording import Recording

_SPANS: Final = ("span_seconds", "busy_seconds", "idle_seconds")
_SHARES: Final = ("busy_share", "idle_share")
_COUNTED: Final = ("count", "seconds")


def device_of(recording: Recording) -> Mapping[str, Any] | None:
    """None where no trace was taken, or its figures are not those that an importer writes."""
    found = recording.main.facts.get("device")
    return found if isinstance(found, dict) and _is_whole(found) else None


def _is_whole(found: Mapping[str, Any]) -> bool:
    tables = [found.get(name) for name in ("memcpy", "syncs", "devices")]
    if not all(table is None or isinstance(table, dict) for table in tables):
        return False
    copies, waits, devices = ((table or {}).values() for table in tables)
    kernels, longest = found.get("kernels"), found.get("top_kernels")
    return (
        all(_has(each, _SPANS) and _has(each, _SHARES, absent=True) for each in (found, *devices))
        and _has(found, ("launches", "launch_seconds", "trace_seconds"))
        and _has(kernels, _COUNTED)
        and _has(kernels, ("mean_seconds",), absent=True)
        and all(_has(copy, (*_COUNTED, "bytes")) for copy in copies)
        and all(_has(wait, _COUNTED) for wait in waits)
        and _has(found.get("memset"), _COUNTED)
        and isinstance(longest, list)
        and all(_has(kernel, _COUNTED) and "name" in kernel for kernel in longest)
    )


def _has(found: Any, names: Iterable[str], *, absent: bool = False) -> bool:
    """Whether all of these are numbers; `absent`: or there, and None."""
    return isinstance(found, dict) and all(
        name in found and (_is_number(found[name]) or (absent and found[name] is None)) for name in names
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
