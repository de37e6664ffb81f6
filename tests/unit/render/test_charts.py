"""Charts are files that their readers open, say what the report says, and survive any name."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rlprof.advise.report import complete_report
from rlprof.analyse.chart_data import MOST_POINTS, names_apart, report_curves, share_bars
from rlprof.model.comparison import Comparison, Overall, PhaseRow, Side
from rlprof.model.recording import Recording
from rlprof.render.charts.comparison_charts import comparison_charts
from rlprof.render.charts.figure import grid_figure, single_figure
from rlprof.render.charts.report_charts import report_charts
from rlprof.render.charts.style import ending, label
from support.examples import HOSTILE, busy_recording, hostile_recording, ppo_recording
from support.installed import need
from support.recordings import a_recording, span

need("matplotlib")

NAMES = ("$x^2$ \\frac", "two\nlines", "経路計画", "\ud800 half", "a" * 500, "\uffff\ufffe", "", "<b>&amp;", "%s {0}")


def charts_of(recording: Recording) -> dict[str, Callable[..., None]]:
    report = complete_report(recording)
    return report_charts(report, report_curves(recording, report))


def a_comparison(name: str = "train.py --turbo", phase: str = "env.step") -> Comparison:
    return Comparison(
        schema=1,
        baseline=Side("train.py", ()),
        candidate=Side(name, ()),
        pairs=10,
        unit="run",
        per="env step",
        overall=Overall(1.25, 1.2, 1.3, "faster", 1e-4, 8e-5, 0.95, 0.3),
        sps=None,
        phases=(
            PhaseRow(6e-5, 4e-5, 1.5, 1.4, 1.6, "faster", 0.2, phase=phase),
            PhaseRow(4e-5, 4e-5, 1.0, 0.98, 1.02, "same", 0.0, phase="learn.loss"),
            PhaseRow(1e-5, 3e-5, 0.33, 0.3, 0.4, "slower", 0.0, phase="learn.other"),
            PhaseRow(2e-5, 2e-5, 1.0, 0.7, 1.4, "cannot-tell", 0.0, phase="advantage"),
            PhaseRow(0.0, 1e-6, None, None, None, "slower", -0.01, phase="log"),
        ),
        operations=(),
        memory=None,
        minimal_detectable=None,
        more_pairs_needed=None,
        margin=0.03,
        outliers=(),
        environment_differences=(),
        forced=False,
        stopped_early=False,
        left_out=(),
        other_load=None,
        warnings=(),
    )


def texts(svg: bytes) -> list[str]:
    root = ET.fromstring(svg)  # our own, and whatever a name holds, it must parse
    found = ("".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text"))
    return [text for text in found if text]


def test_a_chart_says_in_text_what_the_report_says() -> None:
    shown = texts(grid_figure(charts_of(ppo_recording()), "svg"))
    for said in ("Where the time goes", "Bottlenecks", "Speed over time", "Memory", "env.step", "start-up",
                 "collecting", "learning", "32.9%  20.4 s", "% of the wall clock (62.0 s)"):  # fmt: skip
        assert said in shown
    assert any("physics" in text for text in shown)


def test_every_format_is_what_its_readers_expect() -> None:
    image = pytest.importorskip("PIL.Image")
    pypdf = pytest.importorskip("pypdf")
    charts = charts_of(busy_recording())
    picture = image.open(io.BytesIO(grid_figure(charts, "png")))
    picture.load()
    assert picture.width == round(2 * 3.4 * 200)
    page = pypdf.PdfReader(io.BytesIO(grid_figure(charts, "pdf"))).pages[0]
    assert "Where the time goes" in page.extract_text()
    assert float(page.mediabox.width) == pytest.approx(2 * 3.4 * 72, abs=1)


def test_each_chart_alone_is_a_column_wide_and_its_type_is_large_enough() -> None:
    for draw in (*charts_of(busy_recording()).values(), *comparison_charts(a_comparison()).values()):
        svg = single_figure(draw, "svg")
        root = ET.fromstring(svg)
        assert float(str(root.get("width")).removesuffix("pt")) == pytest.approx(3.4 * 72)
        sizes = [float(size) for size in re.findall(rb"font:[^;\"]*?([\d.]+)px", svg)]
        sizes += [float(size) for size in re.findall(rb"font-size: ?([\d.]+)px", svg)]
        assert sizes
        assert min(sizes) >= 7.0
        assert b"<image" not in svg  # vectors only


def test_groups_differ_in_grey_and_by_hatch() -> None:
    from matplotlib.colors import to_rgb

    from rlprof.render.charts.style import FILLS

    brightness = sorted(float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114))) for colour, _ in FILLS.values())
    assert min(np.diff(brightness)) > 0.2
    assert len({hatch for _, hatch in FILLS.values()}) == len(FILLS)


@pytest.mark.parametrize("name", [*NAMES, HOSTILE], ids=ascii)
def test_no_name_breaks_a_chart(name: str) -> None:
    recording = a_recording(seconds=10.0).spans(span(name, count=3, self_seconds=6.0)).build()
    assert texts(grid_figure(charts_of(recording), "svg"))
    assert texts(grid_figure(comparison_charts(a_comparison(name, name)), "svg"))
    assert len(label(name)) <= 24


def test_no_name_breaks_a_picture_or_a_page() -> None:
    spans = [span(name or "empty", count=3, self_seconds=1.0) for name in (*NAMES, HOSTILE)]
    charts = charts_of(a_recording(seconds=20.0).spans(*spans).build())
    assert grid_figure(charts, "png").startswith(b"\x89PNG")
    assert grid_figure(charts, "pdf").startswith(b"%PDF")


def test_a_dollar_is_a_dollar() -> None:
    shown = texts(grid_figure(comparison_charts(a_comparison(phase="$x_1$")), "svg"))
    assert "$x_1$" in shown


def test_charts_of_a_hostile_recording_are_harmless() -> None:
    svg = grid_figure(charts_of(hostile_recording()), "svg")
    assert b"<script" not in svg
    assert texts(svg)


def test_the_end_of_a_path_is_what_is_shown() -> None:
    assert ending("iteration / rollout / env_step / physics") == "… / env_step / physics"
    assert ending("short / path") == "short / path"


def test_sides_are_told_apart_by_where_their_names_differ() -> None:
    assert names_apart(a_comparison()) == ("", "--turbo")
    shown = texts(grid_figure(comparison_charts(a_comparison()), "svg"))
    assert {"A", "B: --turbo", "Is B faster?", "60.0 µs", "1.25x"} <= set(shown)


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        ("turbo = False", "turbo = True", ("turbo = False", "turbo = True")),
        ("train.py --envs 1", "train.py --envs 8", ("--envs 1", "--envs 8")),
        ("train.py --envs 1", "train.py --envs 1 --turbo", ("", "--turbo")),
        ("train.py --fast", "train.py --fast slow.py", ("", "slow.py")),
        ("a.py", "b.py", ("a.py", "b.py")),
        ("same", "same", ("", "")),
        ("= 1", "= 2", ("= 1", "= 2")),
    ],
)
def test_a_value_keeps_the_name_of_what_it_is_the_value_of(a: str, b: str, apart: tuple[str, str]) -> None:
    assert names_apart(replace(a_comparison(), baseline=Side(a, ()), candidate=Side(b, ()))) == apart


def test_bars_add_up_to_the_wall_clock() -> None:
    report = complete_report(ppo_recording())
    bars = share_bars(report)
    assert sum(bar.seconds for bar in bars) == pytest.approx(report.ledger.wall_seconds, rel=0.01)
    assert {bar.group for bar in bars} == {"collecting", "learning", "other"}


def test_curves_are_thinned_and_keep_their_peak() -> None:
    peak = 9_000_000_000
    rows = [(at / 100, peak if at == 777 else 1_000_000, -1) for at in range(5000)]
    recording = a_recording(seconds=50.0).spans(span("env.step", self_seconds=1.0)).memory(rows).build()
    curve = report_curves(recording, complete_report(recording)).rss_mb
    assert len(curve.t) <= MOST_POINTS
    assert max(curve.value) == peak / 1e6


def test_an_empty_recording_still_gives_a_chart() -> None:
    charts = charts_of(a_recording(seconds=1.0).spans().build())
    assert set(charts) == {"shares"}
    assert "unattributed" in texts(grid_figure(charts, "svg"))


def test_the_same_report_gives_the_same_file() -> None:
    report = complete_report(ppo_recording())
    report = replace(report, recording="x")
    curves = report_curves(ppo_recording(), report)
    assert grid_figure(report_charts(report, curves), "svg") == grid_figure(report_charts(report, curves), "svg")


def test_a_missing_matplotlib_is_one_line_that_names_the_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['matplotlib'] = None; from rlprof.cli.main import main; main()"
    command = [sys.executable, "-c", program, "report", "none.rlprof", "--charts", "out.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "rlprof: charts need matplotlib: pip install 'rlprof[charts]'\n")


def test_an_unknown_format_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rlprof", "report", "none.rlprof", "--charts", "out.jpg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert ".png, .svg or .pdf" in done.stderr
