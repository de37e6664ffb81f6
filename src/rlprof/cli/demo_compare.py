"""`rlprof demo NAME --compare`: two ways of one program in turns, by component, beside what could be gained at most."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click

from rlprof.cli.run import short
from rlprof.model.comparison import Comparison
from rlprof.model.errors import BadOption
from rlprof.recording import open_recording

#: Differences below this count as none, as for `rlprof compare`.
MARGIN = 0.03


@dataclass(frozen=True)
class Turns:
    """How a demo is compared: what runs both ways in turns, and what plays the changed part by itself."""

    module: str
    name: str  # as in `rlprof.alternate(name, ...)`
    alone: str
    part: str


def show_comparison(turns: Turns, recorded: Path) -> None:
    """The comparison, what the changed part could bring at most, and where the recording is."""
    from rich.console import Console

    from rlprof.analyse.breakdown import part_of
    from rlprof.experiments.batches import compare_batches
    from rlprof.render.comparison_terminal import render_comparison
    from rlprof.render.sections import encodable

    found = compare_batches(open_recording(recorded), turns.name, MARGIN, part_of)
    render_comparison(found, Console(), "component")
    lines = _gain(turns, found)
    if lines:
        click.echo(encodable("\n".join(["", *lines]), sys.stdout.encoding or "utf-8"))
    click.echo(f"\nRecording  {short(recorded)}\nrlprof compare {short(recorded)} --by {turns.name} shows it by phase")


def _gain(turns: Turns, found: Comparison) -> list[str]:
    from rlprof.analyse.amdahl import Gain
    from rlprof.render.gain import gain_lines

    whole = found.overall.baseline_seconds
    seconds = next((row.baseline_seconds for row in found.phases if row.phase == turns.part), None)
    if not whole or not seconds:
        return []
    steps, faster = _alone(turns)
    alone = f"the engine alone, {steps:,} steps a play"
    return gain_lines(turns.part, alone, Gain(seconds / whole, faster), found.overall)


def _alone(turns: Turns) -> tuple[int, float]:
    """The part by itself, both ways in turns in a process of its own: steps of a play, and how many times as fast."""
    words = [sys.executable, "-m", turns.alone]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise BadOption(f"{turns.alone} failed: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
    told = json.loads(done.stdout)
    return told["steps"], median(a / b for a, b in zip(told["plain"], told["turbo"], strict=True))
