"""Sampling against training, for several forms of a program side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rlprof.analyse.loop_split import SAMPLING, STEPPING, TRAINING, LoopSplit
from rlprof.model.report import VectorEnvEntry
from rlprof.model.units import format_count, format_duration, format_percent, format_ratio, three_digits
from rlprof.render.canvas import WIDEST, Canvas, flow, grid, title
from rlprof.render.sections import encodable
from rlprof.render.workers import parts_of


def render_loop_splits(
    splits: Sequence[LoopSplit], cores: int | None, device: str | None, console: Console, published: str | None = None
) -> None:
    """Draw the tables on a console; `published` is what others measured, to hold the figures against."""
    canvas = Canvas(width=min(console.width, WIDEST), plain=console.options.ascii_only)
    notes = [*_notes(splits, cores), *([published] if published else [])]
    drawn = Group(*_drawn(splits, notes, device, canvas))
    with console.capture() as capture:
        console.print(drawn, width=canvas.width, markup=False, emoji=False, highlight=False)
    console.file.write(encodable(capture.get(), console.encoding))
    console.file.flush()


def _drawn(
    splits: Sequence[LoopSplit], notes: Sequence[str], device: str | None, canvas: Canvas
) -> Iterator[RenderableType]:
    yield title("Sampling and training", "seconds of the main process", canvas.width)
    yield _totals(splits, device, canvas)
    yield Text()
    yield title("Per transition and per episode", "in the main process", canvas.width)
    yield _per_step(splits, canvas)
    if any(split.workers is not None and split.workers.split is not None for split in splits):
        yield Text()
        yield title("A step of all environments", "per transition, and its share of the step", canvas.width)
        yield _inside_steps(splits, canvas)
    if notes:
        yield Text()
        yield flow(notes, canvas.width)


def _heads(splits: Sequence[LoopSplit]) -> list[str]:
    return [f"{split.envs} env" + ("s" if split.envs != 1 else "") + _where(split) for split in splits]


def _where(split: LoopSplit) -> str:
    return f", {split.workers.workers} processes" if split.workers is not None else ""


def _table(splits: Sequence[LoopSplit], canvas: Canvas, first: str, under: tuple[str, ...]) -> Table:
    table = grid(canvas)
    table.add_column(first, no_wrap=True)
    for head in _heads(splits):
        for number, each in enumerate(under):
            table.add_column(head + f"\n{each}" if number == 0 else f"\n{each}", justify="right")
    return table


def _totals(splits: Sequence[LoopSplit], device: str | None, canvas: Canvas) -> Table:
    table = grid(canvas)
    table.add_column("", no_wrap=True)
    for head in _heads(splits):
        table.add_column(head, justify="right", no_wrap=True)
    rows = [
        ("sampling", [format_duration(split.sampling_seconds) for split in splits]),
        ("training", [format_duration(split.training_seconds) for split in splits]),
        ("sampling of both", [format_percent(split.sampling_seconds / split.loop_seconds) for split in splits]),
        ("sampling : training", [_to_one(split.ratio) for split in splits]),
        ("transitions", [format_count(split.transitions) for split in splits]),
        ("transitions per second", [three_digits(split.rate) for split in splits]),
        ("imports, start, end", [format_duration(split.outside_seconds) for split in splits]),
        ("device", [device or "none"] * len(splits)),
    ]
    if device is not None:
        rows.append(("device busy", [format_percent(split.device_busy_share) for split in splits]))
    for name, cells in rows:
        table.add_row(name, *cells, style="bold" if name == "transitions per second" else None)
    return table


def _to_one(ratio: float | None) -> str:
    return "-" if ratio is None else f"{three_digits(ratio)} : 1"


def _per_step(splits: Sequence[LoopSplit], canvas: Canvas) -> Table:
    table = _table(splits, canvas, "", ("transition", "episode"))
    for part in (*SAMPLING, TRAINING):
        table.add_row(part, *_cells(splits, [split.parts[part] for split in splits]))
        if part == STEPPING and any(split.reward_seconds is not None for split in splits):
            inside = [split.reward_seconds if split.workers is None else None for split in splits]
            table.add_row("  of which reward", *_cells(splits, inside), style="cyan")
    table.add_row("all", *_cells(splits, [split.loop_seconds for split in splits]), style="bold")
    return table


def _cells(splits: Sequence[LoopSplit], amounts: Sequence[float | None]) -> Iterator[str]:
    for split, seconds in zip(splits, amounts, strict=True):
        yield format_duration(None if seconds is None else seconds / split.transitions)
        yield format_duration(seconds / split.episodes if seconds is not None and split.episodes else None)


def _inside_steps(splits: Sequence[LoopSplit], canvas: Canvas) -> Table:
    table = _table(splits, canvas, "", ("transition", "share"))
    columns = [_split_of(split) for split in splits]
    names = list(dict.fromkeys(name for column in columns for name in column))
    for name in names:
        cells: list[str] = []
        for split, column in zip(splits, columns, strict=True):
            seconds = column.get(name)
            cells.append(format_duration(None if seconds is None else seconds / split.transitions))
            cells.append(format_percent(None if seconds is None else seconds / sum(column.values())))
        table.add_row(name, *cells)
    return table


def _split_of(split: LoopSplit) -> dict[str, float]:
    """One environment after the other is all simulator, but for what the vector environment does around it."""
    if split.workers is not None:
        return {name: seconds for name, seconds, _ in parts_of(split.workers)}
    if split.simulator_seconds is None:
        return {}
    around = max(split.parts[STEPPING] - split.simulator_seconds, 0.0)
    return {"simulator": split.simulator_seconds, "around it": around}


def _notes(splits: Sequence[LoopSplit], cores: int | None) -> Iterator[str]:
    first = splits[0]
    for other in splits[1:]:
        yield (
            f"{_heads([other])[0]}: {format_ratio(other.rate / first.rate)} the transitions per second of "
            f"{_heads([first])[0]}"
        )
    if cores is not None and first.workers is None and first.simulator_seconds:
        most = cores * first.transitions / first.simulator_seconds
        each = format_duration(first.simulator_seconds / first.transitions)
        yield f"{cores} cores that only simulate, {each} each: at most {three_digits(most)} transitions per second"
    for split in splits:
        if split.workers is not None:
            yield from _worker_notes(split, split.workers)


def _worker_notes(split: LoopSplit, workers: VectorEnvEntry) -> Iterator[str]:
    """What a worker spends a step with, that the parent cannot tell from simulating."""
    if workers.core_wait_seconds is not None:
        whole = format_duration(workers.step_seconds / workers.steps)
        waiting = format_duration(workers.core_wait_seconds / workers.steps)
        yield f"a step of all takes {whole}; in it, a worker waits {waiting} for a core"
    if split.reward_seconds is not None:
        each = format_duration(split.reward_seconds / split.transitions)
        yield f"in a worker, the reward takes {each} of a step, waiting for a core included"
