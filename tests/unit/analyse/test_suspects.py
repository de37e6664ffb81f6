"""What suspected functions cost for each env step."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from rlprof.analyse.report import build_report
from rlprof.analyse.suspects import Suspicion, suspects_of
from rlprof.model.report import Drilldown, LineEntry, Report
from rlprof.render.suspects import render_suspects
from support.recordings import a_recording, span

LOGGING = Suspicion("log lines", ("write_log",), "--log none")
SEARCH = Suspicion("search", ("search", "around"), "--search quick")
ABSENT = Suspicion("never seen", ("nothing",), "-")


def line(function: str, number: int, seconds: float, *, own: bool = True) -> LineEntry:
    return LineEntry("/home/me/game.py", number, function, own, seconds, seconds, seconds, seconds / 12, 10, ())


def part(name: str, *lines: LineEntry) -> Drilldown:
    seconds = sum(each.seconds for each in lines)
    return Drilldown(name, seconds, 100, 100.0, lines, 0.0, 0.0)


def a_report(env_steps: int | None = 1000) -> Report:
    recording = a_recording(seconds=12).spans(span("env.step", self_seconds=9.0))
    report = build_report((recording.counter("env_steps", env_steps) if env_steps else recording).build())
    parts = (
        part("startup", line("search", 3, 2.0)),
        part("env.step", line("search", 7, 1.0), line("around", 9, 3.0), line("search", 8, 9.0, own=False)),
        part("other", line("write_log", 20, 1.0), line("search", 7, 1.0)),
    )
    return dataclasses.replace(report, drilldown=parts, ledger=dataclasses.replace(report.ledger, startup_seconds=2.0))


def test_all_lines_of_its_functions_count_but_those_of_the_start() -> None:
    search, logging = suspects_of(a_report(), (LOGGING, ABSENT, SEARCH))
    assert (search.suspicion, search.seconds, search.line.line) == (SEARCH, pytest.approx(5.0), 9)
    assert search.share == pytest.approx(0.5)
    assert search.bound == pytest.approx(2.0)
    assert search.seconds_per_env_step == pytest.approx(0.005)
    assert (logging.suspicion, logging.share) == (LOGGING, pytest.approx(0.1))


def test_without_steps_there_is_no_cost_of_a_step() -> None:
    assert [each.seconds_per_env_step for each in suspects_of(a_report(None), (SEARCH,))] == [None]


def test_the_table_says_where_what_it_costs_and_what_undoes_it() -> None:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    render_suspects(suspects_of(a_report(), (LOGGING, SEARCH)), console)
    rows = [row.split() for row in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert rows[3] == ["search", "game.py:9", "5.00", "ms", "50.0%", "2.00x", "--search", "quick"]
    assert rows[4] == ["log", "lines", "game.py:20", "1.00", "ms", "10.0%", "1.11x", "--log", "none"]
