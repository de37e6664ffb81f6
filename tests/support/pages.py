"""Pages for tests: a report with something in every section, and the same with an attack in every text."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlprof.advise.report import complete_report
from rlprof.analyse.expectations import PhaseSpeed
from rlprof.analyse.page import PageFigures, page_figures
from rlprof.analyse.rollouts import RolloutPart, RolloutTree
from rlprof.model.expectations import Expectation
from rlprof.model.report import (
    Finding,
    Gain,
    Operator,
    PhaseOperators,
    Place,
    Regime,
    Report,
    TreatmentEntry,
    Window,
)
from rlprof.recording.importers.device import device_summary
from rlprof.render.page import document, report_payload
from support.examples import busy_recording, ppo_recording
from support.vector_envs import vector_recording

#: Fields that hold one of a few words of ours, never a text of the recorded program.
VOCABULARY = {"severity", "status", "started"}


def a_finding(file: str, line: int = 2) -> Finding:
    return Finding(
        rule="env-hotspot",
        severity="critical",
        title="`Arm.integrate` takes 27% of the time",
        evidence={"samples": 1600, "share": 0.27, "lines": [{"line": 133, "seconds": 17.1}], "inner": {"seconds": 1.5}},
        where=(Place(file, line, "integrate"),),
        gain=Gain(1.38, 1.0, 1.38),
        cure="compute `all` joints at once",
        changes_learning=False,
        verify="rlprof run train.py --envs 8",
    )


def a_device() -> Mapping[str, Any]:
    """As `rlprof import` finds it in a trace of two devices."""
    events: tuple[tuple[Mapping[str, Any], int, int], ...] = (
        ({"cat": "kernel", "name": "gemm", "pid": 0}, 0, 400_000_000),
        ({"cat": "kernel", "name": "relu", "pid": 1}, 500_000_000, 100_000_000),
        ({"cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "args": {"bytes": 4096}}, 900_000_000, 1_000_000),
        ({"cat": "cuda_runtime", "name": "cudaStreamSynchronize"}, 0, 200_000_000),
        ({"cat": "cuda_runtime", "name": "cudaLaunchKernel"}, 0, 1_000_000),
    )
    found = device_summary(events, 2_000_000_000)
    assert found is not None
    return found


#: Keys of a device's figures that are ours; others are names out of the trace.
DEVICE_WORDS = {"count", "seconds", "bytes", "name", "mean_seconds", *a_device(), *a_device()["devices"]["0"]}


def full_report(source: str = "/nowhere/train.py") -> tuple[Report, PageFigures]:
    """Findings, regimes, workers, windows, a device, slow iterations: no section is left out."""
    recording = ppo_recording()
    busy = busy_recording()
    report, figures = complete_report(recording), page_figures(recording, complete_report(recording))
    others = page_figures(busy, complete_report(busy))
    return (
        dataclasses.replace(
            report,
            run=dataclasses.replace(report.run, treatments=(TreatmentEntry("torch threads 1", True, None),)),
            windows=(Window("torch.profiler", 3, 1, 4.5, ("run.torch-0.json.gz",), True),),
            operators=(
                PhaseOperators("learn.loss", 30, 0.4, 0.8, 0.1, (Operator("aten::addmm", 20, 0.4, 0.3, 0.1),), 0.1),
                PhaseOperators("other", 5, 0.1, 0.2, 0.0, (Operator("aten::index", 5, 0.1, 0.1, 0.0),), 0.0),
            ),
            device=a_device(),
            findings=(
                a_finding(source),
                dataclasses.replace(a_finding(source), severity="info", changes_learning=True),
            ),
            regimes=(
                Regime(0.0, 2.0, 0.0, "start-up", None),
                Regime(2.0, 40.0, 1500.0, "steady", None),
                Regime(40.0, 62.0, 700.0, "degraded", "checkpoint takes longer"),
            ),
            workers=complete_report(vector_recording()).workers,
            warnings=complete_report(busy).warnings,
        ),
        dataclasses.replace(
            figures,
            lanes=others.lanes,
            memory=others.memory,
            trees=(*figures.trees, *others.trees[1:]),
            rollouts=(RolloutTree("supervised", 1, 10, 0.186, (RolloutPart("teacher", 0, 0.1, 0.54),), 2147.0),),
            speeds=(
                PhaseSpeed("supervised", "cpu", 500.0, Expectation("cpu", "supervised", 1500, 2500, "", "a run"), True),
                PhaseSpeed("", "cpu", 2147.0, Expectation("cpu", "", 1500, 2500), False),
            ),
        ),
    )


def page_of(report: Report, figures: PageFigures) -> str:
    return document(report_payload(report, figures), f"rlprof: {report.run.command}", report.verdict or "")


def with_every_text(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """A copy of it in which every text of the recorded program is another one, at any depth."""
    if isinstance(value, str):
        return value if name in VOCABULARY else change(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: with_every_text(getattr(value, f.name), change, f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **fields)
    if isinstance(value, Mapping):
        return {_changed(key, change, name): with_every_text(item, change, name) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(with_every_text(item, change, name) for item in value)
    return value


def _changed(key: Any, change: Callable[[str], str], name: str) -> Any:
    # Keys stay apart from each other, as they were.
    ours = name == "shares" or (name == "device" and key in DEVICE_WORDS)
    return f"{change(key)} {key}" if isinstance(key, str) and not ours else key


def write_page(folder: Path, text: str, name: str = "page.html") -> str:
    """The page as a file, and its address."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path.as_uri()
