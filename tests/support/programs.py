"""Real programs for tests: written to a file, run with and without rlprof, and their reports read back."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rlprof.advise.report import complete_report
from rlprof.recording import open_recording
from rlprof.render.json import render_json

RLPROF = (sys.executable, "-m", "rlprof")
DEADLINE = 150.0  # seconds; only a hang takes that long, on a busy machine too

Json = dict[str, Any]


def write_program(directory: Path, source: str, name: str = "program.py") -> Path:
    """Write a program into a file."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Outcome:
    """How a program ended. `code` is negative where a signal ended it."""

    code: int
    out: str
    err: str
    seconds: float
    target: Path

    @property
    def own_lines(self) -> list[str]:
        """What rlprof itself had to say, besides the report."""
        return [line for line in self.err.splitlines() if line.startswith("rlprof: ")]

    def report(self) -> Json:
        return read_report(self.target)


def bare_command(script: Path | str, *args: str) -> list[str]:
    return [sys.executable, str(script), *args]


def recorded_command(target: Path, words: Sequence[Path | str], options: Sequence[str] = ()) -> list[str]:
    return [*RLPROF, "run", "--quiet", "--no-html", "--out", str(target), *options, *map(str, words)]


def environment(**changes: str | None) -> dict[str, str]:
    """This process's environment with some variables set, or taken out where the value is None."""
    merged: dict[str, str | None] = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def run(
    command: Sequence[str],
    cwd: Path,
    *,
    stdin: str = "",
    env: dict[str, str] | None = None,
    target: Path | None = None,
    preexec: Callable[[], None] | None = None,
) -> Outcome:
    """Run a command to its end, whatever that is."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        cwd=cwd,
        input=stdin,
        env=env,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
        preexec_fn=preexec,
    )
    return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - started, target or cwd / "none")


def run_bare(script: Path, *args: str, cwd: Path | None = None, stdin: str = "", **env: str | None) -> Outcome:
    return run(bare_command(script, *args), cwd or script.parent, stdin=stdin, env=environment(**env))


def run_recorded(
    script: Path,
    *args: str,
    options: Sequence[str] = (),
    cwd: Path | None = None,
    stdin: str = "",
    preexec: Callable[[], None] | None = None,
    **env: str | None,
) -> Outcome:
    """Run a program under `rlprof run`; its recording is beside the script, unless `options` name another."""
    target = script.with_suffix(".rlprof")
    command = recorded_command(target, [script, *args], options)
    return run(command, cwd or script.parent, stdin=stdin, env=environment(**env), target=target, preexec=preexec)


@contextlib.contextmanager
def started(command: Sequence[str], cwd: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that a test talks to while it runs; whatever is left of it at the end is killed."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        **options,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(condition: Callable[[], Any], what: str, seconds: float = DEADLINE) -> Any:
    """Wait until something holds, and give what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.01)
    return found


def read_line(stream: IO[str] | None) -> str:
    """The next line that a started process prints."""
    assert stream is not None
    return stream.readline().strip()


# --- reading reports --------------------------------------------------------------------------------------------------


def read_report(recording: Path) -> Json:
    """The JSON report of a recording, as `rlprof report --json` makes it."""
    found: Json = json.loads(render_json(complete_report(open_recording(recording))))
    return found


def operations(report: Json, name: str) -> list[Json]:
    """All operations whose last name is `name`, in every process and below every parent."""
    return [operation for operation in report["operations"] if operation["path"][-1] == name]


def operation(report: Json, name: str) -> Json:
    found = operations(report, name)
    assert len(found) == 1, f"{len(found)} operations are named {name}"
    return found[0]


def calls(report: Json, name: str) -> int:
    return sum(operation["calls"] for operation in operations(report, name))


def phases(report: Json) -> dict[str, Json]:
    """What the program did, by phase. Not `gc`: whether a collection falls into a short program is chance."""
    return {entry["phase"]: entry for entry in report["phases"] if entry["phase"] != "gc"}


def phase_calls(report: Json) -> dict[str, int]:
    return {phase: entry["calls"] for phase, entry in phases(report).items()}


def processes(report: Json, role: str | None = None) -> list[Json]:
    return [process for process in report["run"]["processes"] if role is None or process["role"] == role]


def warning_codes(report: Json) -> set[str]:
    return {warning["code"] for warning in report["warnings"]}


def assert_ledgers_close(report: Json) -> None:
    """Attributed + unattributed + overhead = wall to 0.1% in every process, and phases add up to what is attributed."""
    for process in report["run"]["processes"]:
        ledger = process["ledger"]
        parts = ledger["attributed_seconds"] + ledger["unattributed_seconds"] + ledger["overhead_seconds"]
        assert abs(parts - ledger["wall_seconds"]) <= 0.001 * ledger["wall_seconds"], process
        assert ledger["unattributed_seconds"] >= -0.001 * ledger["wall_seconds"], process
        phases = sum(phase["seconds"] for phase in process["phases"])
        assert abs(phases - ledger["attributed_seconds"]) <= 0.001 * ledger["wall_seconds"], process
    assert "ledger-gap" not in warning_codes(report), report["warnings"]
