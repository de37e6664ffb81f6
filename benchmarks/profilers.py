"""How each profiler is started on a program, and the speed at which the program then trains."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from attribution import told
from commands import run_command
from measure import HERE, CannotMeasure, installed_version, say
from zero_code_programs import Program

BARE, RLPROF = "bare", "rlprof run"
LONGEST = 180.0  # seconds until a run is given up
FULL = re.compile(r"circular buffer is full", re.IGNORECASE)

Start = Callable[[Path, str, list[str]], list[str]]  # a file to write, the program, its arguments


def _module(name: str, *options: str, divider: tuple[str, ...] = ()) -> Start:
    """`python -m PROFILER ... FILE PROGRAM ARGUMENTS`"""

    def start(file: Path, program: str, arguments: list[str]) -> list[str]:
        return [sys.executable, "-m", name, *options, str(file), *divider, program, *arguments]

    return start


def _scalene(file: Path, program: str, arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "scalene", "run", "--cpu-only", "-o", str(file), program, "---", *arguments]


def _py_spy(file: Path, program: str, arguments: list[str]) -> list[str]:
    command = str(Path(sys.executable).parent / "py-spy")
    return [command, "record", "-o", str(file), "--", sys.executable, program, *arguments]


def _torch(file: Path, program: str, arguments: list[str]) -> list[str]:
    return [sys.executable, str(HERE / "programs" / "under_torch_profiler.py"), program, *arguments]


@dataclass(frozen=True)
class Profiler:
    name: str
    distribution: str | None
    suffix: str
    start: Start

    @property
    def label(self) -> str:
        version = installed_version(self.distribution) if self.distribution else None
        return f"{self.name} {version}" if version else self.name


PROFILERS = (
    Profiler(BARE, None, "", lambda _, program, arguments: [sys.executable, program, *arguments]),
    Profiler(RLPROF, None, ".rlprof", lambda file, program, arguments: run_command(file, [program, *arguments])),
    Profiler("py-spy record", "py-spy", ".svg", _py_spy),
    Profiler("pyinstrument", "pyinstrument", ".txt", _module("pyinstrument", "-o")),
    Profiler("Scalene, CPU only", "scalene", ".json", _scalene),
    Profiler("cProfile", None, ".prof", _module("cProfile", "-o")),
    Profiler("torch.profiler, CPU", "torch", "", _torch),
    Profiler("VizTracer", "viztracer", ".json", _module("viztracer", "-o", divider=("--",))),
)


@dataclass
class Speeds:
    """Steps per second of the training, by profiler, round by round; or why there are none."""

    values: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    overflowed: bool = False

    def ratios(self, profiler: str) -> list[float]:
        """To the bare run of the same round."""
        return [a / b for a, b in zip(self.values.get(profiler, []), self.values[BARE], strict=False)]


def measure_speeds(program: Program, profilers: tuple[Profiler, ...], rounds: int, steps: int) -> Speeds:
    """Every profiler once a round, each round in an order of its own. One that fails once is left out."""
    speeds = Speeds()
    order = random.Random(program.name)
    for number in range(rounds):
        for profiler in order.sample(profilers, len(profilers)):
            if profiler.name in speeds.failed:
                continue
            say(f"{program.name}: {profiler.name}, round {number + 1} of {rounds} ...")
            try:
                speed = _speed(profiler, program, steps, speeds)
            except CannotMeasure as reason:
                if profiler.name == BARE:
                    raise
                speeds.failed[profiler.name] = str(reason)
                speeds.values.pop(profiler.name, None)
            else:
                speeds.values.setdefault(profiler.name, []).append(speed)
    return speeds


def _speed(profiler: Profiler, program: Program, steps: int, speeds: Speeds) -> float:
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as folder:
        file = Path(folder) / f"out{profiler.suffix}"
        command = profiler.start(file, str(program.file), program.arguments(steps))
        output = _run(command, folder)
        if FULL.search(output):
            speeds.overflowed = True
    values = told(output)
    return float(values["steps"] / values["seconds"])


def _run(command: list[str], folder: str) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            timeout=LONGEST,
        )  # fmt: skip
    except FileNotFoundError:
        raise CannotMeasure("not installed") from None
    except subprocess.TimeoutExpired:
        raise CannotMeasure(f"not done after {LONGEST:.0f} s") from None
    if done.returncode != 0:
        last = (done.stdout.strip() or "no message").splitlines()[-1]
        raise CannotMeasure(f"exit code {done.returncode}: {last[:120]}")
    return done.stdout
