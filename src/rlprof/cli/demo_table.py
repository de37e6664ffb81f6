"""The tables of `rlprof demo cyber`: sampling against training, with one environment and with many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rlprof.cli.run import short
from rlprof.model.errors import BadOption
from rlprof.recording import open_recording
from rlprof.recording.place import SUFFIX

SIMULATOR: Final = "CyberEnv"
REWARD: Final = "CyberEnv.reward"
#: What such a program was published with, to hold the figures against.
PUBLISHED: Final = "Published: 270 transitions/s with 1 env, 180 with 200 processes, > 99% sampling"


def form_targets(target: Path, many: int) -> Iterator[tuple[tuple[str, ...], Path]]:
    """The knobs of each form, and where its recording goes."""
    stem = target.name.removesuffix(SUFFIX)
    for envs, words in ((1, ("--envs", "1")), (many, ("--envs", str(many), "--backend", "subproc"))):
        yield words, target.with_name(f"{stem}-{envs}{SUFFIX}")


def show_table(recordings: Sequence[Path]) -> None:
    from rich.console import Console

    from rlprof.analyse.loop_split import loop_split
    from rlprof.analyse.report import build_report
    from rlprof.render.loop_split import render_loop_splits

    reports = [build_report(open_recording(recorded)) for recorded in recordings]
    splits = []
    for recorded, report in zip(recordings, reports, strict=True):
        split = loop_split(report, SIMULATOR, REWARD)
        if split is None:
            raise BadOption(f"{short(recorded)} shows no step of an environment: was the program stopped before it?")
        splits.append(split)
    if splits:
        render_loop_splits(splits, reports[0].run.cores, reports[0].run.gpu, Console(), PUBLISHED)
