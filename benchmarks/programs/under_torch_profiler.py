"""Runs a program under torch.profiler, as `python under_torch_profiler.py PROGRAM [ARGS]...`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from torch.profiler import ProfilerActivity, profile


def main() -> None:
    program = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(program).parent)
    with profile(activities=[ProfilerActivity.CPU]):
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
