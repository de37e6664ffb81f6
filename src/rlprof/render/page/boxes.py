"""Boxes below boxes: the call tree, and single iterations in time. Columns of numbers keep the file small."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from rlprof.analyse.call_layout import CallNode, CallTree
from rlprof.analyse.iteration_timeline import IterationTimeline
from rlprof.analyse.places import module_path
from rlprof.model.clean import clean_text
from rlprof.model.report import Report
from rlprof.model.units import format_count, format_duration, format_percent, three_digits
from rlprof.render.page.axis import time_ticks
from rlprof.render.page.tints import tint

Payload = dict[str, Any]
Pieces = tuple[str, ...]  # of a text, to be joined by commas
#: Places are whole numbers up to this one: shorter to write, and fine enough to zoom in on the shortest span.
SCALE: Final = 1_000_000


@dataclass
class _Boxes:
    """Names, colours and the pieces of texts are numbered, since most of them come often."""

    names: dict[str, int] = field(default_factory=dict)
    pieces: dict[str, int] = field(default_factory=dict)
    tints: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(
        self, name: str, part: str, parent: int | None, depth: int, place: tuple[float, float], text: Pieces
    ) -> None:
        number = self.names.setdefault(clean_text(name), len(self.names))
        colour = self.tints.setdefault(part, len(self.tints))
        start, end = place
        above = -1 if parent is None else parent
        said = [self.pieces.setdefault(clean_text(piece), len(self.pieces)) for piece in text]
        places = round(start * SCALE), round(max(end, start) * SCALE)
        self.rows.append((number, colour, above, depth, *places, said))

    def payload(self) -> Payload:
        columns = ("name", "tint", "parent", "depth", "from", "to", "text")
        by_column = zip(*self.rows, strict=True) if self.rows else ((),) * len(columns)
        return {
            "scale": SCALE,
            "names": list(self.names),
            "pieces": list(self.pieces),
            "tints": [tint(part) for part in self.tints],
            **{column: list(values) for column, values in zip(columns, by_column, strict=True)},
        }


def trees(found: tuple[CallTree, ...]) -> list[Payload]:
    """Each tree; `functions` marks the boxes that were sampled and are no spans."""
    return [
        {
            "title": tree.title,
            "hidden": f"{format_count(tree.hidden)} smaller ones are not drawn" if tree.hidden else "",
            "boxes": _tree_boxes(tree),
            "functions": [number for number, node in enumerate(tree.nodes) if node.file is not None],
        }
        for tree in found
    ]


def _tree_boxes(tree: CallTree) -> Payload:
    boxes = _Boxes()
    for node in tree.nodes:
        boxes.add(_name(node), node.phase, node.parent, node.depth, (node.start, node.end), _text(node, tree.seconds))
    return boxes.payload()


def _name(node: CallNode) -> str:
    if node.file is not None and node.name == "<module>":
        return f"{_short(node.file)} (import)"
    return node.name


def _text(node: CallNode, whole: float) -> Pieces:
    share = format_percent(node.total_seconds / whole) if whole > 0 else ""
    return (
        f"total {format_duration(node.total_seconds)} ({share})",
        f"self {format_duration(node.self_seconds)}",
        *((f"{format_count(node.calls)} calls", node.phase) if node.calls is not None else ()),
        *((f"{_short(node.file)}:{node.line}",) if node.file is not None else ()),
    )


def _short(file: str) -> str:
    inside = module_path(file)
    return inside if inside != file else re.split(r"[\\/]", file)[-1]


def iterations(found: tuple[IterationTimeline, ...], report: Report) -> list[Payload]:
    """The slowest iterations: figures of each, and its spans in time where they were kept."""
    kept = {timeline.index: timeline for timeline in found}
    listed = {slow.index for slow in report.slow_iterations}
    rows = [
        {
            "cells": [
                format_count(slow.index),
                format_duration(slow.t),
                format_duration(slow.seconds),
                three_digits(slow.times_median) if slow.times_median is not None else "",
                ", ".join(f"{phase} {format_duration(seconds)}" for phase, seconds in list(slow.phases.items())[:3]),
            ],
            **_timeline(kept.get(slow.index)),
        }
        for slow in report.slow_iterations
    ]
    return rows + [_scheduled(timeline) for timeline in found if timeline.index not in listed]


def _scheduled(timeline: IterationTimeline) -> Payload:
    """An iteration that is not among the slowest, but in which every span was logged."""
    figures = format_count(timeline.index), format_duration(timeline.at_s), format_duration(timeline.seconds)
    return {"cells": [*figures, "", "logged by a schedule"], **_timeline(timeline)}


def _timeline(found: IterationTimeline | None) -> Payload:
    if found is None or not found.spans or found.seconds <= 0:
        return {"boxes": None, "ticks": [], "note": "its single spans were not kept"}
    boxes = _Boxes()
    for span in found.spans:
        end = span.start_s + span.seconds
        text = format_duration(span.seconds), f"from {format_duration(span.start_s)} on", span.phase
        place = (span.start_s / found.seconds, end / found.seconds)
        boxes.add(span.name, span.phase, span.parent, span.depth, place, text)
    note = f"{format_count(found.left_out)} shorter spans are not drawn" if found.left_out else ""
    return {"boxes": boxes.payload(), "ticks": time_ticks(found.seconds), "note": note}
