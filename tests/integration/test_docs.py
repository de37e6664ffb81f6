"""Every command and every program in the README and the docs does what the page shows it doing."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if page.exists())
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: Set-up that a page shows but that a test must not run again inside itself; CI runs the first two.
SET_UP = (
    "make demo",
    "make test",
    "make slow",
    "make bench",
    "make wheel",
    "make lint",
    "pip install",
    "git clone",
    "cd ",
)

#: What makes a demo short: the last word on a knob counts.
SHORT = {
    "petri": "--batches 1 --frames-per-batch 64 --minibatch 32 --epochs 1",
    "cyber": "--steps 200 --batch 100 --minibatch 50",
    "snake": "--envs 8 --episodes 8 --train-steps 1 --size 6",
    "robots": "--timesteps 32 --envs 2 --n-steps 8 --batch 8 --epochs 1",
    "teacher": "--envs 2 --rollout 8 --supervised-steps 64 --total-steps 128 --epochs 1",
}

#: Batches that are compared last for half a second at least.
COMPARED = "--batches 1 --frames-per-batch 1536 --epochs 1"

TRAIN = """
import argparse, sys
from rlprof import count, iteration, profile
parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=4)
parser.add_argument("--envs", type=int, default=8)
for _ in range(parser.parse_args().iterations):
    iteration()
    for _ in range(50):
        with profile("env_step", phase="env.step"):
            sum(range(20000))
        count("env_steps", 8)
"""

#: What `rlprof import` is shown on.
TRACE = """{"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 10.0, "dur": 40.5},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.0, "dur": 12.25}
]}"""

#: A plan of the kind that `rlprof investigate` is shown on; with the budget of the pages it runs once.
PLAN = """
baseline.command = "train.py"
[[hypothesis]]
name = "16 environments"
expect = 1.5
confidence = 0.5
effort = 1
changes_learning = true
change.arguments = "--envs 16"
"""

TURBO = """
import time
from rlprof import alternate, count, iteration
for _ in range(700):
    iteration()
    time.sleep(0.005 if alternate("turbo", [False, True]) else 0.01)
    count("env_steps", 8)
"""


def blocks(language: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if found[1] == language:
                yield str(page.relative_to(ROOT)), found[2]


def commands() -> list[tuple[str, str]]:
    return [
        (page, line.removeprefix("$ "))
        for page, block in blocks("console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


COMMANDS = [(page, line) for page, line in commands() if not line.startswith(SET_UP)]
#: Commands that train for seconds, even when they are made short: demos, and experiments.
DEMO = re.compile(r"rlprof demo (\w+)|python -m rlprof\.demos\.(\w+)")
EXPERIMENT = re.compile(r"rlprof (sweep|investigate|quickwins|compare(?= --a| --resume| exp\b))")


def once_each() -> Iterator[Any]:
    """What the pages show, every line once.

    For the long campaigns are a demo that a line before has shown, and an experiment of a kind that a page before has.
    """
    lines: set[str] = set()
    shown: dict[str, str] = {}  # by demo the line, by kind of experiment the page that showed it first
    for page, line in COMMANDS:
        if line in lines:
            continue
        lines.add(line)
        demo, experiment = DEMO.match(line), EXPERIMENT.match(line)
        again = (demo and shown.setdefault(demo[1] or demo[2], line) != line) or (
            experiment and shown.setdefault(experiment[1], page) != page
        )
        yield pytest.param(page, line, id=f"{page}-{line}", marks=[pytest.mark.slow] if again else [])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of: a program, a recording of it, and the parts of a killed run."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "train.py").write_text(TRAIN)
    (folder / "trace.json").write_text(TRACE, encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    snake = (ROOT / "docs" / "experiments" / "snake.toml").read_text(encoding="utf-8")
    (folder / "snake.toml").write_text(snake.replace("--episodes 100", SHORT["snake"]), encoding="utf-8")
    run(folder, "rlprof run --quiet --out run.rlprof train.py")
    for side in ("before", "after"):
        (folder / side).mkdir()
        for number in range(5):
            shutil.copy(folder / "run.rlprof", folder / side / f"{number}.rlprof")
    (folder / "turbo.py").write_text(TURBO)
    run(folder, "rlprof run --quiet --out turbo.rlprof turbo.py")
    killed = folder / "killed.py"
    killed.write_text("import os, signal\nfrom rlprof import profile\nwith profile('a'): pass\n"
                      "os.kill(os.getppid(), signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)\n")  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "rlprof", "run", "--out", "killed.rlprof", "killed.py"], cwd=folder, check=False
    )
    assert (folder / "killed.rlprof.parts").is_dir()
    return folder


def run(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    demo = re.match(r"(?:rlprof demo |python -m rlprof\.demos\.)(\w+)(?!.*--help)", line)
    line = line.replace("--table", "--table 2")
    if swept := re.match(r"rlprof sweep .* -m rlprof\.demos\.(\w+)", line):  # one setting of it, once
        demo = swept
        line = re.sub(r"(-p \S+?=[^,\s]+),\S+", r"\1", line).replace("sweep", "sweep --runs 1 --warm-up-runs 0", 1)
    line = line.replace("snake.toml", "snake.toml --budget 1s") if line.startswith("rlprof investigate snake") else line
    short = COMPARED if demo and "--compare" in line else SHORT.get(demo[1], "") if demo else ""
    words = shlex.split(f"{line} {short}")
    assert words[0] in ("rlprof", "python"), f"no test knows how to run {line!r}"
    words = ["-m", *words] if words[0] == "rlprof" else words[1:]
    environment = {**os.environ, "COLUMNS": "100", "WANDB_MODE": "offline"}
    if "--web" in words:
        return serve(folder, words, environment)
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def serve(folder: Path, words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A page that stays until somebody ends it: that it is there is what succeeds."""
    command = [sys.executable, *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        served = "http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(command, 0 if served and process.returncode == 130 else 1, "", err)


def test_the_pages_show_commands_and_programs() -> None:
    assert len(COMMANDS) >= 10
    assert list(blocks("python"))


@pytest.mark.parametrize(("page", "line"), list(once_each()))
def test_a_command_on_a_page_succeeds(prepared: Path, page: str, line: str) -> None:
    for output in ("before.rlprof", "killed.rlprof", "imported.rlprof"):
        if "report" not in line:  # what is to be written must not be there, what is to be read must
            (prepared / output).unlink(missing_ok=True)
        elif not (prepared / output).exists():
            shutil.copy(prepared / "run.rlprof", prepared / output)
    done = run(prepared, line)
    assert done.returncode == 0, f"{page}: {line}\n{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("page", "program"), list(blocks("python")), ids=lambda value: value[:40])
def test_a_program_on_a_page_runs(prepared: Path, page: str, program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=prepared, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{page}\n{done.stderr}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
