"""`rlprof watch`: a run that goes on, looked at from another terminal. Nothing is asked of the run itself."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from rich.console import Console, RenderableType
from rich.live import Live

from rlprof.cli.look import Look, look_at, pause_after
from rlprof.model.errors import BadOption, RecordingNotFound, RlprofError
from rlprof.recording.place import RUNS_DIRECTORY
from rlprof.render.dashboard import dashboard

EPILOG = """\b
Examples:
  rlprof watch                                    the newest run in rlprof-runs/
  rlprof watch rlprof-runs/train-20260105-101500.rlprof
  rlprof watch run.rlprof --once                  one look, for a script
  rlprof watch run.rlprof --web                   a page in the browser of this machine"""


@click.command(epilog=EPILOG, short_help="Look at a run that goes on.")
@click.argument("recording", type=click.Path(), required=False)
@click.option("--every", type=click.FloatRange(0.2), default=1.0, help="Seconds between two looks [1].")
@click.option("--once", is_flag=True, help="Look once and end.")
@click.option("--web", is_flag=True, help="Serve a page, for this machine only, and print its address.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page [any that is free].")
def watch(recording: str | None, every: float, once: bool, web: bool, port: int | None) -> None:
    """Show what a run does now: steps per second, phases of the last seconds, memory, the first finding.

    RECORDING is the run's file, or its directory of parts; without it, the newest run in the current directory's
    rlprof-runs. It ends with the run, or with Ctrl-C, which ends only the watching.
    """
    name = recording or _newest()
    if port is not None and not web:
        raise BadOption("--port is the page's: say --web, too")
    if web:
        _serve(name, port or 0, every, once)
        return
    console = Console()
    look, screen, took = _look(name, console)
    if once or not console.is_terminal:
        console.print(screen)
        while not once and look.goes_on:
            time.sleep(pause_after(took, every))
            look, screen, took = _look(name, console)
            console.print(screen)
        return
    try:
        _show(name, console, every, (look, screen, took))
    except KeyboardInterrupt:
        sys.exit(130)


def _serve(name: str, port: int, every: float, once: bool) -> None:
    from rlprof.cli.watch_page import serve_page

    if once:
        raise BadOption("--once is for the terminal; a page stays: leave out one of --once and --web")
    try:
        serve_page(name, port, every)
    except KeyboardInterrupt:
        sys.exit(130)


def _show(name: str, console: Console, every: float, first: tuple[Look, RenderableType, float]) -> None:
    look, screen, took = first
    with Live(screen, console=console, refresh_per_second=4, transient=False) as live:
        while look.goes_on:
            time.sleep(pause_after(took, every))
            try:
                look, screen, took = _look(name, console)
            except RlprofError:  # its parts are being merged just now
                continue
            live.update(screen)


def _look(name: str, console: Console) -> tuple[Look, RenderableType, float]:
    started = time.monotonic()
    look = look_at(name)
    screen = dashboard(look.report, look.course, console.width, plain=console.options.ascii_only)
    return look, screen, time.monotonic() - started


def _newest() -> str:
    folder = Path(RUNS_DIRECTORY)
    found = (
        [path for path in folder.glob("*.rlprof*") if path.suffix in (".rlprof", ".parts")] if folder.is_dir() else []
    )
    if not found:
        raise RecordingNotFound(f"there is no run in {RUNS_DIRECTORY}/ here: name a recording")
    return str(max(found, key=lambda path: path.stat().st_mtime))
