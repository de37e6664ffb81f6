"""What a trace says about the device: busy and idle, kernels, copies, and who waited for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Report
from rlprof.model.units import format_bytes, format_count, format_duration, format_percent
from rlprof.render.canvas import Canvas, cut, title

TOP_KERNELS: Final = 3


def device(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """Nothing where no trace was taken or imported."""
    found = report.device
    if not found:
        return
    lines = [cut(Text(line), canvas.width) for line in device_lines(found)]
    yield Group(title("Device", "shares are of its span, from its first activity to its last"), *lines)


def device_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The same for a page: a line each for time, kernels, copies and waits."""
    if found.get("busy_share") is not None:
        yield (
            f"busy {format_duration(found['busy_seconds'])} ({format_percent(found['busy_share'])}), "
            f"idle {format_percent(found['idle_share'])} of {format_duration(found['span_seconds'])}"
        )
    several = found.get("devices") or {}
    for name, each in several.items() if len(several) > 1 else ():
        share = format_percent(each["busy_share"]) if each["busy_share"] is not None else "-"
        busy = format_duration(each["busy_seconds"])
        yield f"  device {clean_text(str(name), 40)}: busy {busy} ({share} of its own span)"
    kernels = found.get("kernels") or {}
    if kernels.get("count"):
        mean = format_duration(kernels["mean_seconds"])
        yield f"{format_count(kernels['count'])} kernels, {format_duration(kernels['seconds'])}, {mean} each"
        for kernel in found.get("top_kernels", [])[:TOP_KERNELS]:
            name = clean_text(str(kernel["name"]), 60)
            yield f"  {format_duration(kernel['seconds'])} in {format_count(kernel['count'])} of {name}"
    copies = [(name, copy) for name, copy in (found.get("memcpy") or {}).items() if copy["count"]]
    for name, copy in copies:
        size = format_bytes(copy["bytes"])
        yield f"{format_count(copy['count'])} copies {clean_text(name, 10)}, {size}, {format_duration(copy['seconds'])}"
    for name, wait in (found.get("syncs") or {}).items():
        yield f"{format_count(wait['count'])} {clean_text(name, 40)}, {format_duration(wait['seconds'])} on the host"
