"""How the benchmarks call rlprof: its command line in a fresh process, and the recordings it leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import CannotMeasure

#: Every span of a program that never turns more iterations than this is logged as an event.
ALWAYS_ACTIVE = "wait=0,warmup=0,active=1000000000,repeat=1"


def rlprof_command() -> list[str]:
    """The installed command beside this interpreter, as a user would start it."""
    for name in ("rlprof", "rlprof.exe"):
        script = Path(sys.executable).parent / name
        if script.exists():
            return [str(script)]
    raise CannotMeasure("the rlprof command is not installed beside this Python: pip install . in the repository")


def run_command(recording: Path, program: list[str], options: tuple[str, ...] = ()) -> list[str]:
    """`rlprof run` for a program, with everything on that is on by default."""
    return [*rlprof_command(), "run", "--quiet", "--no-html", "--out", str(recording), *options, *program]


def checked(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run to the end; a failure shows its last line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise CannotMeasure(f"`{Path(command[0]).name} {' '.join(command[1:3])} ...` failed: {last}")
    return done


def told_seconds(output: str) -> float:
    """A program's own measurement of its loop: the last such line, before whatever rlprof prints."""
    for line in reversed(output.splitlines()):
        if line.startswith('{"seconds"'):
            return float(json.loads(line)["seconds"])
    raise CannotMeasure("the program did not say how long it took")


def read_report(recording: Path) -> dict[str, Any]:
    """The JSON report of a recording, made as a user would make it."""
    done = checked([*rlprof_command(), "report", str(recording), "--json", "-"])
    report: dict[str, Any] = json.loads(done.stdout)
    return report
