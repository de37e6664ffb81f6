"""What a trace says about the device, as the page shows it: busy and idle as a bar, and what it was busy with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlprof.model.units import format_bytes, format_count, format_duration, format_percent

Payload = dict[str, Any]


def device(found: Mapping[str, Any] | None) -> Payload | None:
    """None where no trace was taken or imported."""
    if not found:
        return None
    tables = (
        ("What it did", ["", "count", "time", "each", "size"], _work(found)),
        ("On the host: waits for it, and launches", ["call", "count", "time"], _calls(found)),
        ("Kernels with the most time", ["kernel", "count", "time"], _kernels(found)),
        ("Each device by itself", ["device", "busy", "idle", "its span"], _devices(found)),
    )
    return {
        "busy": round(float(found.get("busy_share") or 0.0), 4),
        "said": _said(found),
        "tables": [{"title": title, "head": head, "rows": rows} for title, head, rows in tables if rows],
    }


def _said(found: Mapping[str, Any]) -> str:
    if found.get("busy_share") is None:
        return ""
    busy, idle, span = (format_duration(found[f"{name}_seconds"]) for name in ("busy", "idle", "span"))
    return (
        f"busy {busy} ({format_percent(found['busy_share'])}), idle {idle} ({format_percent(found['idle_share'])}) "
        f"of {span}, from its first activity to its last"
    )


def _work(found: Mapping[str, Any]) -> list[list[str]]:
    parts = [("kernels", found.get("kernels"))]
    parts += [(f"copies {name}", copy) for name, copy in (found.get("memcpy") or {}).items()]
    parts += [("fills", found.get("memset"))]
    return [_row(name, part) for name, part in parts if part and part["count"]]


def _row(name: str, part: Mapping[str, Any]) -> list[str]:
    size = format_bytes(part["bytes"]) if "bytes" in part else ""
    each = format_duration(part["seconds"] / part["count"])
    return [name, format_count(part["count"]), format_duration(part["seconds"]), each, size]


def _calls(found: Mapping[str, Any]) -> list[list[str]]:
    waits = [_counted(str(name), wait) for name, wait in (found.get("syncs") or {}).items()]
    started = {"count": found.get("launches") or 0, "seconds": found.get("launch_seconds") or 0.0}
    return [*waits, *([_counted("launches of kernels", started)] if started["count"] else [])]


def _kernels(found: Mapping[str, Any]) -> list[list[str]]:
    return [_counted(str(kernel["name"]), kernel) for kernel in found.get("top_kernels") or ()]


def _counted(name: str, part: Mapping[str, Any]) -> list[str]:
    return [name, format_count(part["count"]), format_duration(part["seconds"])]


def _devices(found: Mapping[str, Any]) -> list[list[str]]:
    several = found.get("devices") or {}
    return [list(_one(str(name), part)) for name, part in several.items()] if len(several) > 1 else []


def _one(name: str, part: Mapping[str, Any]) -> Iterator[str]:
    yield name
    yield format_duration(part["busy_seconds"])
    yield format_percent(part["idle_share"]) if part["idle_share"] is not None else ""
    yield format_duration(part["span_seconds"])
