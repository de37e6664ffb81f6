"""Running a piece of code in an interpreter of its own: for what would crash, or spoil the process it runs in."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run_alone(code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the code with warnings as errors; its result, whatever it was."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RLPROF_")}
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
