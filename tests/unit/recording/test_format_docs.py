"""The page on the file's format says what is in the file, and its programs work."""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
from pathlib import Path

import pytest

from rlprof.recording import columns, schema
from rlprof.recording.merge import merge
from rlprof.recording.place import parts_of
from rlprof.recording.reader import open_recording
from support.parts import a_batch, write_part

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "recording-format.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    found = re.search(rf"^### {title}\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section on {title}"
    return found[1]


def columns_on_page(title: str) -> set[str]:
    rows = re.findall(r"^\| (`[^|]*`) \|", section(title), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def columns_in_file() -> dict[str, set[str]]:
    connection = sqlite3.connect(":memory:")
    schema.create(connection)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    found = {table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")} for table in tables}
    connection.close()
    return found


@pytest.mark.parametrize("table", sorted(set(columns_in_file()) - {"chunks"}))
def test_every_column_of_every_table_is_described_and_no_other(table: str) -> None:
    shared = {"process"} if table not in {"meta", "processes", "operations", "warnings"} else set()
    assert columns_on_page(table) | shared == columns_in_file()[table]


def test_every_column_of_every_packed_table_is_described_as_it_is_stored() -> None:
    text = section("chunks")
    assert columns_in_file()["chunks"] <= columns_on_page("chunks")
    described: dict[str, dict[str, tuple[str, bool]]] = {}
    kind = ""
    for cells in re.findall(r"^\|([^|]*)\| (`[^|]*`) \| (\w\d)(, steps)? \|", text, re.MULTILINE):
        kind = cells[0].strip(" `") or kind
        for name in re.findall(r"`(\w+)`", cells[1]):
            described.setdefault(kind, {})[name] = (f"<{cells[2]}", bool(cells[3]))
    assert described == {kind: {c.name: (c.stored, c.steps) for c in layout} for kind, layout in columns.KINDS.items()}


def test_the_version_and_the_mark_are_those_of_the_file() -> None:
    assert f"Layout version: **{schema.VERSION}**" in PAGE
    assert f"0x{schema.APPLICATION_ID:x}" in PAGE
    history = re.findall(r"^\| (\d+) \| [\d.]+ \|", PAGE, re.MULTILINE)
    assert history == [str(version) for version in range(1, schema.VERSION + 1)]


def test_the_programs_on_the_page_read_what_a_reader_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run.rlprof"
    write_part(parts_of(target), a_batch(1, "11-aa"), a_batch(2, "11-aa"))
    merge(target)
    monkeypatch.chdir(tmp_path)
    totals, slices = [output_of(program) for program in PROGRAMS]
    main = open_recording(target).main
    assert "env_step" in totals
    assert f"{main.counters['env_steps'].amount:.0f} env steps" in totals
    windows = main.counter_windows
    expected = [
        f"1 {(end - start) / 1e9} s: {amount}"
        for start, end, amount in zip(windows.start_ns, windows.end_ns, windows.amount, strict=True)
    ]
    assert slices.splitlines() == expected


def output_of(program: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "recording-format.md", "exec"), {})
    return said.getvalue()
