"""Reports and what experiments find as JSON: the stable contracts that the schemas beside this file describe."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any

from rlprof.model.comparison import Comparison
from rlprof.model.investigation import Investigation
from rlprof.model.quickwins import QuickWins
from rlprof.model.report import Report
from rlprof.model.sweep import Sweep


def render_json(report: Report | Comparison | Sweep | QuickWins | Investigation) -> str:
    """All of it. Never NaN or Infinity, and only text that every JSON parser takes."""
    return json.dumps(_plain(report), indent=2, allow_nan=False) + "\n"


def report_schema() -> dict[str, Any]:
    """The JSON Schema the report is held to."""
    return _schema("report.schema.json")


def comparison_schema() -> dict[str, Any]:
    """The one that comparisons are held to."""
    return _schema("comparison.schema.json")


def sweep_schema() -> dict[str, Any]:
    """The one that sweeps are held to."""
    return _schema("sweep.schema.json")


def quickwins_schema() -> dict[str, Any]:
    """The one that quick wins are held to."""
    return _schema("quickwins.schema.json")


def investigation_schema() -> dict[str, Any]:
    """The one that investigations are held to."""
    return _schema("investigation.schema.json")


def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(files("rlprof.render").joinpath(name).read_text(encoding="utf-8"))
    return schema


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    """Half of a surrogate pair is no character: parsers refuse it, so it is spelled out."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")
