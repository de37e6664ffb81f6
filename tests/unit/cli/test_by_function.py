"""Profiles by function as text that fits a screen."""

from __future__ import annotations

import cProfile
import json
from pathlib import Path

from rlprof.cli.by_function import write_table


def work() -> None:
    json.dumps({"a": [1, 2, 3]}, indent=2)


def test_libraries_are_named_from_their_package_on_and_own_files_in_full(tmp_path: Path) -> None:
    profile, table = tmp_path / "a.prof", tmp_path / "a.txt"
    with cProfile.Profile() as profiler:
        work()
    profiler.dump_stats(profile)
    write_table(profile, table)
    text = table.read_text(encoding="utf-8")
    assert " json/encoder.py:" in text
    assert f" {__file__}:{work.__code__.co_firstlineno}(work)" in text
    calls = [line for line in text.splitlines() if "(dumps)" in line]
    assert calls[0].split()[0] == "1"
    assert any(line.startswith("json/__init__.py:") and "(work)" in line for line in calls)  # who called it
    assert json.__file__ not in text
