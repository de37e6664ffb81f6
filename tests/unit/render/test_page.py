"""The HTML file of a report: its policy, its data, its sources, and what it was built from."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from rlprof.model.report import Inferred
from rlprof.render.markdown import render_markdown
from rlprof.render.notebook import render_notebook
from rlprof.render.page.axis import ticks, time_ticks
from rlprof.render.page.document import asset, document, embedded
from rlprof.render.page.excerpts import Excerpts
from rlprof.render.page.report import report_payload
from rlprof.render.page.tints import ORDER, hue, stacking, tint
from rlprof.render.paths import Paths
from support.examples import HOSTILE, busy_recording, hostile_recording, ppo_recording
from support.pages import full_report, page_of
from support.vector_envs import vector_recording

ROOT = Path(__file__).resolve().parents[3]
STARTED = "2026-01-05T10:00:00+00:00"
LONG_AGO = (0, 0)


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def built_from() -> str:
    """What web/build.mjs notes: a fingerprint of every source, in the order of their names."""
    web = ROOT / "web"
    names = [f"src/{path.name}" for path in (web / "src").iterdir()]
    digest = hashlib.sha256()
    for name in sorted([*names, "build.mjs", "package.json", "package-lock.json", "tsconfig.json"]):
        digest.update(f"{name}\0".encode() + (web / name).read_bytes() + b"\0")
    return digest.hexdigest()


def test_the_built_page_belongs_to_the_sources_beside_it() -> None:
    assert asset("built-from.txt").strip() == built_from(), (
        "build it anew: npm ci --prefix web && npm run build --prefix web"
    )


def test_no_registry_is_named_in_the_lockfile() -> None:
    assert '"resolved"' not in (ROOT / "web" / "package-lock.json").read_text(encoding="utf-8")


def test_only_the_script_and_the_styles_in_the_file_are_allowed() -> None:
    page = page_of(*full_report())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]  # type: ignore[index]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_file_names_no_address_outside_of_itself() -> None:
    page = page_of(*full_report()).replace("http://www.w3.org/", "")  # the names of XML's vocabularies are no addresses
    assert not re.search(r"""(src|href|url|action)\s*[=(]\s*["']?(https?:)?//""", page)
    assert "@import" not in page


def test_data_cannot_end_the_element_it_is_in() -> None:
    text = embedded({"name": "</script><!--\u2028\u2029&", HOSTILE: [HOSTILE, None, 1.5, True]})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert text.isascii()
    found = json.loads(text)
    assert found["name"] == "</script><!--\\u2028\\u2029&"


def test_hostile_titles_are_text() -> None:
    page = document({}, "</title><script>alert(1)</script>\x00", "<img onerror=x>\ud800")
    page.encode("utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page


@pytest.mark.parametrize("recording", [ppo_recording, busy_recording, hostile_recording, vector_recording])
def test_every_recording_has_a_page(recording: Any) -> None:
    from rlprof.advise.report import complete_report
    from rlprof.analyse.page import page_figures

    found = recording()
    page = page_of(complete_report(found), page_figures(found, complete_report(found)))
    page.encode("utf-8")
    assert data_of(page)["kind"] == "report"


def test_the_page_has_the_figures_of_the_report() -> None:
    report, figures = full_report()
    payload = report_payload(report, figures)
    shown = {row["name"]: row["percent"] for row in payload["ledger"]["rows"]}
    assert {entry.phase: f"{entry.share * 100:.1f}%" for entry in report.phases}.items() <= shown.items()
    assert sum(row["share"] for row in payload["ledger"]["rows"]) == pytest.approx(1.0, abs=1e-3)
    first = payload["whatif"][0]
    assert [point["ratio"] for point in first["points"][1:]] == [
        f"{entry.sps_ratio:.2f}x" for entry in report.whatif if entry.phase == first["phase"]
    ]


def test_an_excerpt_shows_the_lines_around_a_place(tmp_path: Path) -> None:
    source = tmp_path / "train.py"
    source.write_text("".join(f"    line {number}\n" for number in range(1, 30)))
    os.utime(source, LONG_AGO)
    excerpts = Excerpts(STARTED)
    number = excerpts.number(str(source), 10)
    assert number == excerpts.number(str(source), 10) == 0
    assert excerpts.entries[0] == {"first": 7, "line": 10, "lines": [f"line {number}" for number in range(7, 14)]}


def test_what_is_no_source_or_was_changed_since_the_run_is_not_read(tmp_path: Path) -> None:
    changed = tmp_path / "changed.py"
    changed.write_text("x = 1\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("token\n")
    os.utime(secret, LONG_AGO)
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    (tmp_path / "folder.py").mkdir()
    excerpts = Excerpts(STARTED)
    places = [changed, secret, pipe, tmp_path / "folder.py", tmp_path / "gone.py"]
    assert [excerpts.number(str(place), 1) for place in places] == [None] * len(places)
    assert excerpts.number("relative.py", 1) is None
    assert excerpts.number("\x00.py", 1) is None


def test_ticks_are_round_and_few() -> None:
    assert [tick["label"] for tick in time_ticks(62.0)] == ["0 s", "15.0 s", "30.0 s", "45.0 s", "60.0 s"]
    assert [tick["label"] for tick in ticks(7816.0, lambda value: f"{value:g}", 2)] == ["0", "5000"]
    assert time_ticks(0.0) == [{"at": 0.0, "label": "0 s"}]
    assert len(time_ticks(30 * 86400.0)) <= 7


def test_every_phase_has_the_hue_of_its_category_and_a_shade_of_its_own() -> None:
    assert tint("env.step") == {"hue": "environment", "shade": 0}
    assert tint("env.reset") == {"hue": "environment", "shade": 1}
    assert (
        len({tint(phase)["shade"] for phase in ("learn.loss", "learn.backward", "learn.optimizer", "learn.other")}) == 4
    )
    assert hue('"><script>') == "other"
    assert {hue(part) for part in ("unattributed", "startup", "overhead", "gc")} <= set(ORDER)
    assert stacking("env.step") < stacking("learn.loss") < stacking("unattributed")


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/ann/project/train.py", "train.py"),
        ("/home/ann/project/envs/arm.py", "envs/arm.py"),
        ("/home/ann/projects/train.py", "~/projects/train.py"),
        ("/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", "torch/nn/modules/linear.py"),
        ("/usr/lib/python3.11/json/decoder.py", "json/decoder.py"),
        ("/srv/shared/train.py", "/srv/shared/train.py"),
        ("<frozen runpy>", "<frozen runpy>"),
    ],
)
def test_files_are_named_as_people_on_other_machines_know_them(
    file: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    paths = Paths("/home/ann/project")
    assert paths.shown(file) == shown
    assert paths.in_words(f"see `{file}`, {file}:12") == f"see `{shown}`, {shown}:12"


@pytest.mark.parametrize("directory", [None, "", "/"])
def test_a_program_that_ran_nowhere_in_particular_has_whole_paths(
    directory: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/root")
    assert Paths(directory).shown("/srv/train.py") == "/srv/train.py"
    assert Paths(directory).in_words("1/2 of a/b, 3 steps/s, and/or") == "1/2 of a/b, 3 steps/s, and/or"


def test_no_text_of_the_page_holds_the_folder_in_which_the_program_ran() -> None:
    report, figures = full_report("/home/ann/secret/train.py")
    (first, *others) = report.findings
    told = dataclasses.replace(
        first,
        cure="change /home/ann/secret/train.py:2",
        title="in /home/ann/secret/train.py",
        evidence={"file": "/home/ann/secret/train.py", "lines": [{"file": "/home/ann/secret/train.py", "line": 3}]},
    )
    report = dataclasses.replace(
        report,
        recording="/home/ann/secret/run.rlprof",
        findings=(told, *others),
        inferred=(Inferred("train:Arm", "/home/ann/secret/train.py", 3, "env"),),
    )
    assert "/home/ann/secret" in page_of(report, figures)
    ran = dataclasses.replace(report.run, directory="/home/ann/secret")
    there = dataclasses.replace(report, run=ran)
    assert "/home/ann/secret" not in page_of(there, figures)
    assert "/home/ann/secret" not in render_markdown(there)
    assert "/home/ann/secret" not in render_notebook(there)


def test_windows_operators_rollouts_and_expected_speeds_are_on_the_page() -> None:
    payload = report_payload(*full_report())
    assert payload["head"]["treated"] == ["run with treatments: torch threads 1 (this is not the bare program)"]
    (window,) = payload["windows"]["entries"]
    assert window["said"] == "torch.profiler: 3 iterations (1 to warm up), 4.50 s; they are in no other figure"
    assert window["files"] == "run.torch-0.json.gz"
    assert "windows of other profilers are drawn here, too" in payload["lanes"]["note"]
    first, second = payload["windows"]["operators"]
    assert first["rows"] == [
        ["aten::addmm", "20", "300 ms", "400 ms", "100 ms"],
        ["other operators", "", "100 ms", "", ""],
    ]
    assert (second["phase"], second["percent"]) == ("other", "20.0%")
    (rollout,) = payload["rollouts"]
    assert rollout["title"] == "supervised rollouts 1 to 10, 2,147 steps/s"
    assert [(row["name"], row["depth"], row["time"]) for row in rollout["rows"]] == [
        ("rollout", 0, "186 ms"),
        ("teacher", 1, "100 ms"),
    ]
    slow, whole = payload["speeds"]
    assert (slow["flagged"], slow["cells"][3:]) == (True, ["1,500 to 2,500", "SLOW: 33.3% of the least, below 50%"])
    assert (whole["flagged"], whole["cells"][0], whole["cells"][4]) == (False, "whole run", "as expected")
