"""Pages beside new recordings: where they go, and when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.advise.report import complete_report
from rlprof.cli import pages
from support.examples import ppo_recording


def test_a_page_has_the_name_of_its_recording() -> None:
    assert pages.page_beside(Path("runs/a.rlprof")) == Path("runs/a.html")
    assert pages.page_beside(Path("runs/a.rlprof.parts")) == Path("runs/a.html")
    assert pages.page_beside(Path("runs/v1.2.rlprof")) == Path("runs/v1.2.html")


def test_a_large_recording_gets_no_page_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = tmp_path / "a.rlprof"
    recorded.write_bytes(b"x" * 100)
    recording = ppo_recording()
    monkeypatch.setattr(pages, "LARGEST_BYTES", 99)
    said = pages.write_beside(recorded, recording, complete_report(recording))
    assert said.startswith("the recording is large, so its page was left out: rlprof report")
    assert not (tmp_path / "a.html").exists()
    monkeypatch.setattr(pages, "LARGEST_BYTES", 100)
    assert pages.write_beside(recorded, recording, complete_report(recording)).startswith("report as a page: ")
    assert [path.name for path in tmp_path.iterdir()].count("a.html") == 1


def test_a_fault_while_the_page_is_made_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise ValueError("broken")

    monkeypatch.setattr(pages, "report_page", fail)
    recording = ppo_recording()
    said = pages.write_beside(tmp_path / "a.rlprof", recording, complete_report(recording))
    assert "the page could not be written (ValueError('broken'))" in said
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []


def test_the_title_of_a_page_is_the_command() -> None:
    recording = ppo_recording()
    assert "<title>rlprof: train.py --envs 8</title>" in pages.report_page(recording, complete_report(recording))
