"""What people read: terminal, text, Markdown, live summary.

Golden files lie in tests/golden. After a change that is meant to be seen, renew them with

    RENEW_GOLDEN=1 python -m pytest tests/unit/render

and look at the difference before it is committed.
"""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from rlprof.advise.report import complete_report
from rlprof.model.recording import Recording
from rlprof.model.report import Regime, Report
from rlprof.render.markdown import code, escape, render_markdown
from rlprof.render.summary import render_summary
from rlprof.render.terminal import render_terminal
from rlprof.render.text import render_text
from support.examples import HOSTILE, busy_recording, hostile_recording, ppo_recording
from support.recordings import a_recording, span
from support.vector_envs import vector_recording

GOLDEN = Path(__file__).parents[2] / "golden"


def drawn(report: Report, width: int, *, colour: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(
        file=stream,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        legacy_windows=False,
        _environ={},
    )
    render_terminal(report, console)
    stream.flush()
    return "\n".join(line.rstrip() for line in raw.getvalue().decode(encoding).splitlines()) + "\n"


def report_of(recording: Callable[[], Recording]) -> Report:
    return complete_report(recording())


DRAWINGS: dict[str, Callable[[], str]] = {
    "ppo-terminal-80.txt": lambda: drawn(report_of(ppo_recording), 80),
    "ppo-terminal-120.txt": lambda: drawn(report_of(ppo_recording), 120),
    "busy-terminal-80.txt": lambda: drawn(report_of(busy_recording), 80),
    "busy-terminal-120.txt": lambda: drawn(report_of(busy_recording), 120),
    "busy-text.txt": lambda: render_text(report_of(busy_recording)),
    "ppo.md": lambda: render_markdown(report_of(ppo_recording)),
    "busy.md": lambda: render_markdown(report_of(busy_recording)),
    "hostile.md": lambda: render_markdown(report_of(hostile_recording)),
    "workers-terminal-80.txt": lambda: drawn(report_of(vector_recording), 80),
    "workers.md": lambda: render_markdown(report_of(vector_recording)),
    "ppo-summary.txt": lambda: render_summary(report_of(ppo_recording)),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_looks_as_it_was_approved(name: str) -> None:
    shown = DRAWINGS[name]()
    file = GOLDEN / name
    if os.environ.get("RENEW_GOLDEN"):
        file.write_text(shown, encoding="utf-8", newline="\n")
    assert shown == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("recording", [ppo_recording, busy_recording, hostile_recording, vector_recording])
@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(recording: Callable[[], Recording], width: int) -> None:
    assert max(cell_len(line) for line in drawn(report_of(recording), width).splitlines()) <= width


@pytest.mark.parametrize("recording", [ppo_recording, busy_recording, hostile_recording])
def test_plain_text_keeps_to_100_columns_and_shows_every_operation(recording: Callable[[], Recording]) -> None:
    report = report_of(recording)
    lines = render_text(report).splitlines()
    assert max(cell_len(line) for line in lines) <= 100
    for column in ("calls", "total", "self", "avg", "min", "max", "p50", "p99"):
        assert any(line.startswith("operation") and column in line for line in lines)


def test_many_operations_are_cut_with_a_word_on_how_to_see_the_rest() -> None:
    builder = a_recording(seconds=100.0).spans(*(span(f"op{n}", self_seconds=1.0) for n in range(40)))
    report = complete_report(builder.build())
    shown = drawn(report, 80)
    assert "15 more operations: rlprof report RECORDING --text -" in shown
    assert len(re.findall(r"^op\d+ ", shown, re.MULTILINE)) == 25
    assert len(re.findall(r"^op\d+ ", render_text(report), re.MULTILINE)) == 40


def test_an_operation_that_is_shown_stands_below_its_parents() -> None:
    builder = a_recording(seconds=100.0).spans(
        *(span(f"op{n}", self_seconds=2.0) for n in range(30)), span("outer", span("inner", self_seconds=9.0))
    )
    lines = drawn(complete_report(builder.build()), 80).splitlines()
    place = next(index for index, line in enumerate(lines) if line.startswith("outer "))
    assert lines[place + 1].startswith("  inner ")


def test_a_pipe_gets_no_escape_sequences_and_a_terminal_gets_colour() -> None:
    report = report_of(ppo_recording)
    assert "\x1b" not in drawn(report, 80)
    assert "\x1b[" in drawn(report, 80, colour=True)


def test_colour_changes_nothing_but_the_colour() -> None:
    report = report_of(busy_recording)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", drawn(report, 120, colour=True))
    assert [line.rstrip() for line in bare.splitlines()] == drawn(report, 120).splitlines()


def test_an_output_without_block_characters_still_gets_a_report() -> None:
    builder = a_recording(seconds=20.0, facts={}).spans(span("env.step", self_seconds=15.0))
    report = replace(complete_report(builder.counter("env_steps", 100).build()), warnings=())
    assert "####" in drawn(report, 80, encoding="ascii")


@pytest.mark.parametrize("colour", [False, True])
def test_hostile_names_steer_neither_the_terminal_nor_the_markup(colour: bool) -> None:
    for shown in (drawn(report_of(hostile_recording), 120, colour=colour), render_text(report_of(hostile_recording))):
        without_colour = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\n", "")
        assert not {unicodedata.category(character) for character in without_colour} & {"Cc", "Cf", "Cs"}
        assert "[bold red]" in without_colour
    assert "\x1b[31m\x00" not in drawn(report_of(hostile_recording), 120, colour=True)


def test_hostile_names_are_not_markdown() -> None:
    shown = render_markdown(report_of(hostile_recording))
    outside_code = re.sub(r"(`+).*?\1(?!`)", "", shown)
    assert "<script>" not in outside_code.replace("\\<", "")
    assert not re.search(r"[@#](?!<!-- -->)\w", outside_code)
    for table in re.findall(r"(?:^\|.*\n)+", shown, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_markdown_escapes_are_fit_for_their_place() -> None:
    assert escape("a*b_c <i> @me #1") == r"a\*b\_c \<i\> @<!-- -->me #<!-- -->1"
    assert code("a|b", cell=True) == r"`a\|b`"
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"


def test_a_run_without_counters_says_how_to_count() -> None:
    shown = drawn(complete_report(a_recording(seconds=5.0).spans(span("env.step", self_seconds=4.0)).build()), 80)
    assert 'rlprof.count("env_steps", n)' in shown


def test_an_empty_run_can_be_drawn() -> None:
    report = complete_report(a_recording(seconds=0.0).build())
    assert "no-spans" in drawn(report, 80)
    assert render_text(report)
    assert render_markdown(report)
    assert render_summary(report)


def test_the_last_line_says_where_the_recording_lies() -> None:
    assert drawn(report_of(ppo_recording), 80).rstrip().splitlines()[-1].startswith("Recording  rlprof-runs/train-")


def test_what_was_inferred_is_named_with_its_place_and_left_out_where_there_is_nothing() -> None:
    entry = {"name": "train:Robot", "file": "/home/me/train.py", "line": 12, "role": "env"}
    report = complete_report(a_recording(facts={"inferred": [entry]}).spans(span("work", self_seconds=1.0)).build())
    assert "train:Robot as env (train.py:12)" in drawn(report, 80)
    assert "Inferred by shape and use: `train:Robot` as `env` (`/home/me/train.py:12`)" in render_markdown(report)
    without = report_of(ppo_recording)
    assert "nferred" not in drawn(without, 80) + render_markdown(without) + render_text(without)


def test_steps_that_the_workers_recordings_lack_are_said() -> None:
    recording = vector_recording()
    worker = recording.processes[1]
    fact = {**worker.facts["vector_worker"], "steps": 900}
    lacking = replace(worker, facts={**worker.facts, "vector_worker": fact})
    shown = drawn(complete_report(replace(recording, processes=(recording.main, lacking, recording.processes[2]))), 100)
    assert "2,000 env steps in the parent, 1,900 in the workers' recordings" in shown


def test_a_vector_environment_of_a_hostile_name_steers_nothing() -> None:
    recording = vector_recording()
    fact = {**recording.main.facts["vector_envs"][0], "name": HOSTILE}
    main = replace(recording.main, facts={**recording.main.facts, "vector_envs": [fact]})
    report = complete_report(replace(recording, processes=(main, *recording.processes[1:])))
    shown = drawn(report, 100)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "<script>" not in render_markdown(report)


def test_regimes_are_drawn_where_the_speed_changed_and_only_there() -> None:
    report = report_of(ppo_recording)
    assert "Regimes" not in drawn(report, 80)
    regimes = (
        Regime(0.0, 2.0, 0.0, "start-up", None),
        Regime(2.0, 30.0, 4000.0, "warm-up", None),
        Regime(30.0, 62.0, 900.0, "steady", HOSTILE),
    )
    changed = replace(report, regimes=regimes)
    for text in (drawn(changed, 80), drawn(changed, 60), render_text(changed), render_markdown(changed)):
        assert "Regimes" in text
        assert "4,000 steps/s" in text
        assert "<script>alert(1)</script>" not in render_markdown(changed)
        assert "\x1b" not in text
    assert max(cell_len(line) for line in drawn(changed, 60).splitlines()) <= 60
