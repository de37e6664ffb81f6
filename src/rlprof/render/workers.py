"""Vector environments: what a step in the parent consists of, and what its workers do meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from rlprof.model.clean import clean_text
from rlprof.model.report import Report, VectorEnvEntry
from rlprof.model.units import format_count, format_duration, format_percent
from rlprof.render.bars import bar
from rlprof.render.canvas import QUIET, Canvas, flow, grid, title

_STYLES = ("green", "red", "yellow", "yellow")
_BAR_WIDTH = 20
_BESIDE_BAR = 70


def vector_envs(report: Report, canvas: Canvas) -> Iterator[RenderableType]:
    """A section per vector environment; a program without worker processes has none."""
    for entry in report.workers.vector_envs if report.workers is not None else ():
        yield Group(
            title("Vector env", headline(entry), canvas.width),
            *_split_table(entry, canvas),
            flow(facts(entry, report.run.cores), canvas.width),
            _worker_table(entry, canvas),
        )


def headline(entry: VectorEnvEntry) -> str:
    each = format_duration(entry.step_seconds / entry.steps)
    name = clean_text(entry.name, 40)
    return f"{name}, {entry.workers} workers: {format_count(entry.steps)} steps, {each} each in the parent"


def parts_of(entry: VectorEnvEntry) -> list[tuple[str, float, str]]:
    """The parts of the parent's time in steps: name, seconds, what it is."""
    split = entry.split
    if split is None:
        return []
    return [
        ("simulator", split.simulator_seconds, "the mean worker's"),
        ("slowest worker", split.straggler_seconds, "beyond the mean worker"),
        ("staggered", split.staggered_seconds, "not all at once"),
        ("inter-process", split.interprocess_seconds, "pickle, pipes, wake-ups"),
    ]


def error_text(entry: VectorEnvEntry) -> str:
    """How sure the parts are, where only some of the steps were measured."""
    split = entry.split
    if split is None or split.error_seconds is None or entry.steps_measured >= entry.steps:
        return ""
    each = format_duration(split.error_seconds / entry.steps)
    return f"parts ± {each}, from {format_count(entry.steps_measured)} steps"


def facts(entry: VectorEnvEntry, cores: int | None) -> Iterator[str]:
    """How idle the workers are, and whether they and the parent speak of the same steps."""
    if entry.split is None:
        yield "not split: too little of its steps was recorded in its workers"
    if error_text(entry):
        yield error_text(entry)
    if entry.idle_share is not None:
        within = entry.idle_in_step_share
        beside = f", {format_percent(within)} within steps" if within is not None else ""
        yield f"workers idle {format_percent(entry.idle_share)} of the time{beside}"
    if entry.core_wait_seconds is not None:
        shared = f" ({entry.workers} workers, {cores} cores)" if cores is not None and entry.workers > cores else ""
        yield f"a worker waits {format_duration(entry.core_wait_seconds / entry.steps)} per step for a core{shared}"
    agree = entry.worker_env_steps == entry.env_steps
    others = "as many in the workers" if agree else f"{format_count(entry.worker_env_steps)} in the workers' recordings"
    yield f"{format_count(entry.env_steps)} env steps in the parent, {others}"


def _split_table(entry: VectorEnvEntry, canvas: Canvas) -> Iterator[RenderableType]:
    parts = parts_of(entry)
    if not parts:
        return
    width = max(min(canvas.width - _BESIDE_BAR, _BAR_WIDTH), 0)
    table = grid(canvas, footer=True)
    table.add_column("part of a step", footer="step in the parent", no_wrap=True)
    each = format_duration(entry.step_seconds / entry.steps)
    table.add_column("per step", footer=each, justify="right", no_wrap=True)
    table.add_column("share", footer=format_percent(1.0), justify="right", no_wrap=True)
    table.add_column("", min_width=width, no_wrap=True)
    table.add_column("", no_wrap=True)
    for (name, seconds, meaning), style in zip(parts, _STYLES, strict=True):
        share = seconds / entry.step_seconds if entry.step_seconds > 0 else 0.0
        table.add_row(
            Text(name, style=style),
            format_duration(seconds / entry.steps),
            format_percent(share),
            Text(bar(share, width, plain=canvas.plain), style=style),
            Text(meaning, style=QUIET),
        )
    yield table


def worker_cells(entry: VectorEnvEntry) -> list[tuple[str, ...]]:
    """A row per worker: pid, env steps, simulator, per step, slowest in, idle, without a core."""
    return [
        (
            str(worker.pid),
            format_count(worker.env_steps),
            format_duration(worker.simulator_seconds),
            format_duration(worker.simulator_seconds / worker.env_steps if worker.env_steps else None),
            format_percent(worker.slowest_share),
            format_percent(worker.idle_share),
            format_duration(worker.core_wait_seconds),
        )
        for worker in entry.members
    ]


WORKER_TITLES = ("worker", "env steps", "simulator", "per step", "slowest in", "idle", "no core")


def _worker_table(entry: VectorEnvEntry, canvas: Canvas) -> RenderableType:
    table = grid(canvas)
    for name in WORKER_TITLES:
        table.add_column(name, justify="right", no_wrap=True)
    cells = worker_cells(entry)
    shown = cells if canvas.processes is None else cells[: canvas.processes]
    for row in shown:
        table.add_row(*row)
    more = len(cells) - len(shown)
    notes = [Text(f"{more} more workers: rlprof report RECORDING --text -", style=QUIET)] if more else []
    return Group(table, *notes)
