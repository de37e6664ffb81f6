"""A sweep in words, drawn, and as data: also with hostile names and nothing measured."""

from __future__ import annotations

import io
import json
import re
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from rlprof.experiments.scaling import Coefficients, Point, fit_law
from rlprof.experiments.sweep_words import Found, confirmed, recommendation
from rlprof.model.comparison import ComparisonWarning, LeftOut, Verdict
from rlprof.model.sweep import Confirmation, Curve, PhaseShare, Rival, Setting, Standing, Sweep
from rlprof.render.curve import curve
from rlprof.render.json import render_json, sweep_schema
from rlprof.render.sweep_markdown import render_sweep_markdown
from rlprof.render.sweep_terminal import render_sweep
from support.examples import HOSTILE

LAW = Coefficients(1000, 0.1, 0.0005)
NUMBERS = (1, 4, 16, 64)


def a_setting(n: int, verdict: Verdict | None = None, rate: float | None = None, runs: int = 5) -> Setting:
    value = rate if rate is not None else LAW.rate(n)
    return Setting(
        name=f"envs={n}",
        values={"envs": str(n)},
        runs=runs,
        rate=value,
        low=0.95 * value,
        high=1.06 * value,
        phases=(PhaseShare("env.step", 0.6 / value, 0.6), PhaseShare("learn.loss", 0.4 / value, 0.4)),
        trial_seconds=12.0,
        failed=0,
        timed_out=0,
        against_best=verdict,
        given_up=None,
        other_work=None,
    )


def a_sweep() -> Sweep:
    settings = tuple(a_setting(n, None if n == 64 else "slower") for n in NUMBERS)
    broken = replace(a_setting(256), rate=None, low=None, high=None, runs=0, phases=(), trial_seconds=None, failed=2,
                     given_up="failed with exit code 1 2 times; what it said is in x.log")  # fmt: skip
    law = fit_law([Point(n, LAW.rate(n)) for n in NUMBERS])
    return Sweep(
        schema=1,
        command="train.py --envs {envs}",
        parameters={"envs": ("1", "4", "16", "64", "256")},
        one_at_a_time=False,
        per="env step",
        rounds=5,
        rounds_planned=5,
        settings=(*settings, broken),
        curves=(Curve("envs", {}, tuple(s.name for s in settings), tuple(map(float, NUMBERS)), law),),
        best="envs=64",
        standing="proven",
        recommendation=recommendation(settings, Found("envs=64", "proven", "env step", 0.03)),
        confirmation=Confirmation(
            "envs=64", "proven", (Rival("envs=16", 6, 0.6, 0.55, 0.66, "slower"),), "Proven: envs=64 is faster."
        ),
        stopped=None,
        left_out=(LeftOut("envs=256-001.rlprof", "failed with exit code 1"),),
        other_load=0.02,
        warnings=(ComparisonWarning("busy-machine", "others were busy", "compare on a quiet machine"),),
    )


def drawn(found: Sweep, width: int = 120) -> str:
    buffer = io.StringIO()
    render_sweep(found, Console(file=buffer, width=width, color_system=None, force_terminal=False))
    return buffer.getvalue()


def test_the_schema_of_sweeps_knows_every_field_and_no_other() -> None:
    schema = sweep_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]) == {field.name for field in fields(Sweep)} == set(schema["required"])
    for name, kind in (("Setting", Setting), ("Curve", Curve), ("Rival", Rival), ("Confirmation", Confirmation)):
        assert set(schema["$defs"][name]["properties"]) == {field.name for field in fields(kind)}
    jsonschema.validate(json.loads(render_json(a_sweep())), schema)


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_shows_table_curve_law_and_what_failed(width: int) -> None:
    text = drawn(a_sweep(), width)
    assert "Use envs=64 (" in text
    assert "proven to be faster than every other setting" in " ".join(text.split())
    assert "Proven: envs=64 is faster." in text
    assert "Serial part (contention) 10%" in text
    assert "●" in text
    assert "envs=256: 2 failed; given up" in text
    assert max(map(len, text.splitlines())) <= width


def test_an_output_without_block_characters_gets_plain_ones() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    render_sweep(a_sweep(), Console(file=stream, width=100, color_system=None, force_terminal=False))
    stream.flush()
    assert "envs=64" in raw.getvalue().decode("ascii")


def hostile(found: Sweep) -> Sweep:
    settings = tuple(
        replace(setting, name=HOSTILE, values={HOSTILE: HOSTILE}, given_up=HOSTILE, other_work=HOSTILE)
        for setting in found.settings
    )
    return replace(
        found,
        command=HOSTILE,
        parameters={HOSTILE: (HOSTILE,)},
        settings=settings,
        curves=(replace(found.curves[0], parameter=HOSTILE, at={HOSTILE: HOSTILE}, settings=(HOSTILE,) * 4),),
        recommendation=HOSTILE,
        stopped=HOSTILE,
        warnings=(ComparisonWarning(HOSTILE, HOSTILE, HOSTILE),),
    )


def test_hostile_names_do_no_harm_anywhere(tmp_path: Path) -> None:
    found = hostile(a_sweep())
    for text in (drawn(found), render_sweep_markdown(found)):
        assert "\x1b" not in text
        assert "\x00" not in text
        text.encode("utf-8")
    outside_code = re.sub(r"(`+).*?\1", "", render_sweep_markdown(found))
    assert "<script>" not in outside_code.replace(r"\<", "")
    jsonschema.validate(json.loads(render_json(found)), sweep_schema())
    pytest.importorskip("matplotlib")
    from rlprof.render.sweep_chart import draw_sweep

    draw_sweep(found, tmp_path / "x.svg")
    assert "<script>" not in (tmp_path / "x.svg").read_text()


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_chart_is_drawn_with_curves_or_bars(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    from rlprof.render.sweep_chart import draw_sweep

    for name, found in (("curves", a_sweep()), ("bars", replace(a_sweep(), curves=()))):
        draw_sweep(found, tmp_path / f"{name}.{suffix}")
        head = (tmp_path / f"{name}.{suffix}").read_bytes()[:400]
        assert {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix] in head


def test_nothing_measured_is_said() -> None:
    broken = [replace(a_setting(1), rate=None, low=None, high=None, runs=0, phases=(), trial_seconds=None, failed=2)]
    assert recommendation(broken, Found(None, "cannot-tell", "env step", 0.03)).startswith("No setting completed")
    found = replace(a_sweep(), settings=tuple(broken), curves=(), best=None, confirmation=None, standing="cannot-tell")
    assert "2 failed" in drawn(found)
    assert "2 failed" in render_sweep_markdown(found)


def said(*verdicts: Verdict | None, runs: int = 5, standing: Standing = "cannot-tell") -> str:
    settings = [a_setting(n, verdict, 100.0 + n, runs) for n, verdict in zip((1, 4, 16), verdicts, strict=True)]
    return recommendation(settings, Found("envs=16", standing, "env step", 0.03))


def test_the_recommendation_says_how_sure_it_is() -> None:
    assert "is proven to be faster than every other setting" in said("slower", "slower", None, standing="proven")
    tie = said("slower", "same", None, standing="tie")
    assert tie == "Use envs=4: envs=16 (116 steps/s) was fastest, but by less than 3%."
    assert "envs=4 may be as fast: --confirm tells" in said("slower", "cannot-tell", None)
    assert "too few runs to prove it" in said("cannot-tell", "cannot-tell", None, runs=3)


@pytest.mark.parametrize(
    ("standing", "verdict", "start"),
    [
        ("proven", "slower", "Use envs=16 (116 steps/s"),
        ("tie", "same", "Use envs=4: envs=16 (116"),
        ("refuted", "faster", "Use envs=4: it is proven to be faster than envs=16"),
        ("unbeaten", "cannot-tell", "Use envs=16 (116 steps/s"),
        ("cannot-tell", "cannot-tell", "Fastest seen: envs=16"),
    ],
)
def test_a_confirmation_counts_for_more_than_the_sweep(standing: Standing, verdict: Verdict, start: str) -> None:
    settings = [a_setting(n, None, 100.0 + n, 3) for n in (1, 4, 16)]
    told = Confirmation("envs=16", standing, (Rival("envs=4", 6, 1.0, 0.9, 1.1, verdict),), "")
    assert recommendation(settings, Found("envs=16", "cannot-tell", "env step", 0.03, told)).startswith(start)


def test_after_a_confirmation_it_is_said_which_neighbours_were_told_from_the_best() -> None:
    settings = [a_setting(n, None, 100.0 + n, 3) for n in (1, 4, 16)]
    rivals = (Rival("envs=1", 6, 0.8, 0.7, 0.9, "slower"), Rival("envs=4", 6, 1.0, 0.9, 1.1, "cannot-tell"))
    told = Confirmation("envs=16", "cannot-tell", rivals, "")
    sentence = recommendation(settings, Found("envs=16", "cannot-tell", "env step", 0.03, told))
    assert sentence.endswith("proven to be faster than envs=1; envs=4 may be as fast, which 6 pairs cannot tell.")


def test_a_confirmation_is_proven_a_tie_refuted_or_not_to_be_told() -> None:
    def of(*verdicts: Verdict) -> str:
        rivals = [Rival(str(at), 6, 1.0, 0.9, 1.1, verdict) for at, verdict in enumerate(verdicts)]
        return confirmed("best", rivals, {str(at): f"n={at}" for at in range(3)}, 0.03)[0]

    assert of("slower", "slower") == "proven"
    assert of("slower", "same") == "tie"
    assert of("slower", "faster") == "refuted"
    assert of("slower", "cannot-tell") == "cannot-tell"
    assert of() == "cannot-tell"


def test_the_best_is_confirmed_where_no_neighbour_can_be_faster_by_more_than_the_margin() -> None:
    def of(high: float, pairs: int = 40) -> tuple[str, str]:
        rivals = [Rival("1", 40, 0.8, 0.7, 0.9, "slower"), Rival("2", pairs, 0.97, 0.91, high, "cannot-tell")]
        return confirmed("best", rivals, {"1": "n=1", "2": "n=2"}, 0.03)

    assert of(1.02) == ("unbeaten", "Confirmed: no neighbour is faster than best by more than 2.0%. n=1: slower.")
    assert of(1.04)[0] == "cannot-tell"
    assert of(1.02, pairs=2)[0] == "cannot-tell"


def test_a_curve_keeps_to_its_room_and_puts_points_in_order() -> None:
    lines = curve([(1, 10.0), (8, 80.0), (64, 90.0)], [(1, 11.0), (64, 95.0)], 50, lambda y: f"{y:.0f}")
    assert max(map(len, lines)) <= 50
    assert lines[-1].split() == ["1", "8", "64"]
    assert sum(line.count("●") for line in lines) == 3
    assert curve([(4, 1.0)], [], 40, str)
    assert curve([], [], 40, str) == []
