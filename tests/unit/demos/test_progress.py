"""The progress bar of the demos: one line on a terminal, and no more than one line anywhere else."""

from __future__ import annotations

import io
import sys

import pytest

from rlprof.demos.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("learning", 3)
    progress.update(1)
    progress.say("a line of the program")
    progress.update(2)
    progress.update(3)
    return stream.getvalue()


def test_in_a_pipe_it_says_once_that_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = drawn(io.StringIO(), monkeypatch).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"learning [{'#' * 30}] 3/3")


def test_on_a_terminal_it_stays_on_one_line_and_makes_room_for_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = drawn(Terminal(), monkeypatch)
    assert shown.count("\n") == 1
    assert shown.endswith("\n")
    first, cleared, *_ = shown.split("\r")[1:]
    assert first.startswith(f"learning [{'#' * 10}{'.' * 20}] 1/3")
    assert cleared == " " * 100
    assert capsys.readouterr().out == "a line of the program\n"
