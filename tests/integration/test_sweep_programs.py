"""`rlprof sweep` with real programs: what works, crashes or hangs; broken off and taken up again."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import jsonschema
import pytest

from rlprof.experiments.arms import open_arms
from rlprof.recording import open_recording
from rlprof.render.json import sweep_schema
from support.programs import RLPROF, Json, Outcome, environment, run, started, wait_for, write_program
from support.training import SLEEPY

TELLS = """
    import os
    import rlprof

    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    print(os.environ["OMP_NUM_THREADS"], os.environ["MODE"], processors)
    with rlprof.profile("env_step"):
        rlprof.count("env_steps", 1)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sweep")
    write_program(directory, SLEEPY, "train.py")
    write_program(directory, TELLS, "tells.py")
    return directory


def rlprof(folder: Path, *words: str) -> Outcome:
    return run([*RLPROF, *words], folder, env=environment(COLUMNS="120"))


def read_json(file: Path) -> Json:
    found: Json = json.loads(file.read_text())
    jsonschema.validate(found, sweep_schema())
    return found


@pytest.fixture(scope="module")
def troubled(folder: Path) -> Outcome:
    """Two numbers of environments, a mode that crashes and one that hangs."""
    return rlprof(folder, "sweep", "-p", "mode=works,crashes,hangs", "-p", "envs=1,8", "--one-at-a-time", "--runs", "1",
                  "--warm-up-runs", "0", "--timeout", "12", "--seed", "5", "--out", "troubled",
                  "--json", "troubled.json", "--markdown", "troubled.md", "--chart", "troubled.svg",
                  "--", "train.py", "--mode", "{mode}", "--envs", "{envs}")  # fmt: skip


def test_what_crashes_or_hangs_is_said_and_costs_nothing_else(folder: Path, troubled: Outcome) -> None:
    assert troubled.code == 0, troubled.err
    found = read_json(folder / "troubled.json")
    settings = {tuple(setting["values"].values()): setting for setting in found["settings"]}
    assert set(settings) == {("works", "1"), ("crashes", "1"), ("hangs", "1"), ("works", "8")}
    assert [settings["works", n]["runs"] for n in "18"] == [1, 1]
    assert (settings["crashes", "1"]["failed"], settings["crashes", "1"]["rate"]) == (1, None)
    assert (settings["hangs", "1"]["timed_out"], settings["hangs", "1"]["rate"]) == (1, None)
    assert "mode=hangs envs=1: 1 hung" in troubled.out
    assert {entry["why"] for entry in found["left_out"]} == {"failed with exit code 1", "did not end within 12 s"}
    hung = next((folder / "troubled").glob("mode=hangs*.rlprof"))
    assert open_recording(hung).main.counters["env_steps"].amount == 2


def test_the_fastest_is_found_with_its_phases_and_called_unproven(folder: Path, troubled: Outcome) -> None:
    found = read_json(folder / "troubled.json")
    assert found["best"] == "mode=works+envs=8"
    assert found["standing"] == "cannot-tell"
    assert found["recommendation"].startswith("Fastest seen: mode=works envs=8 (")
    best = next(setting for setting in found["settings"] if setting["name"] == found["best"])
    assert best["phases"][0]["phase"] == "env.step"
    assert best["other_work"].startswith("updates per env step")
    assert "different-work" in {warning["code"] for warning in found["warnings"]}
    assert (folder / "troubled.md").read_text().startswith("## rlprof: sweep")
    assert "<svg" in (folder / "troubled.svg").read_text()


def test_a_finished_sweep_is_shown_again(folder: Path, troubled: Outcome) -> None:
    again = rlprof(folder, "sweep", "--resume", "troubled", "--json", "-")
    assert json.loads(again.out) == read_json(folder / "troubled.json")


def test_process_settings_reach_a_program_that_knows_nothing_of_them(folder: Path) -> None:
    processor = min(os.sched_getaffinity(0)) if sys.platform == "linux" else 0
    placed = ["-p", f"affinity={processor}"] if sys.platform == "linux" else []
    done = rlprof(folder, "sweep", "-p", "threads=1,3", "-p", "env:MODE=fast", *placed, "--runs", "1",
                  "--warm-up-runs", "0", "--out", "process", "tells.py")  # fmt: skip
    assert done.code == 0, done.err
    said = sorted(log.read_text().splitlines()[0] for log in (folder / "process").glob("*.log"))
    numbers = [processor] if placed else []
    assert said == [f"1 fast {numbers}", f"3 fast {numbers}"]


def test_a_budget_stops_before_a_round_that_would_not_fit(folder: Path) -> None:
    done = rlprof(folder, "sweep", "-p", "envs=1,2", "--runs", "50", "--warm-up-runs", "0", "--budget", "1", "--out",
                  "budget", "--json", "-", "train.py", "--envs", "{envs}", "--turns", "5")  # fmt: skip
    found = json.loads(done.out)
    assert found["rounds"] == 1
    assert "another round would take longer than the budget of 1 s allows" in found["stopped"]


def test_ctrl_c_keeps_what_was_measured_and_resuming_goes_on(folder: Path) -> None:
    command = [*RLPROF, "sweep", "-p", "envs=1,2", "--runs", "2", "--warm-up-runs", "0", "--out", "broken",
               "--", "train.py", "--envs", "{envs}"]  # fmt: skip
    with started(command, folder) as process:
        file = folder / "broken" / "experiment.json"
        wait_for(lambda: file.exists() and open_arms(file.parent, "sweep").trials, "the first trial")
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "rlprof sweep --resume broken" in err
    assert "no other setting completed a run" in out
    before = open_arms(folder / "broken", "sweep").trials
    assert before[0].outcome == "completed"
    resumed = rlprof(folder, "sweep", "--resume", "broken", "--json", "-")
    assert resumed.code == 0, resumed.err
    for setting in json.loads(resumed.out)["settings"]:
        assert setting["low"] <= setting["rate"] <= setting["high"]
    after = open_arms(folder / "broken", "sweep")
    assert [len(after.completed(name)) for name in after.plan.variants] == [2, 2]
    assert {trial.recording for trial in before} < {trial.recording for trial in after.trials}


@pytest.mark.slow
def test_the_best_is_confirmed_against_its_neighbours_in_runs_of_their_own(folder: Path) -> None:
    done = rlprof(folder, "sweep", "-p", "envs=1,2,4,8", "--runs", "1", "--warm-up-runs", "0", "--confirm", "--out",
                  "confirmed", "--json", "confirmed.json", "--", "train.py", "--envs", "{envs}",
                  "--turns", "15")  # fmt: skip
    assert done.code == 0, done.err
    found = read_json(folder / "confirmed.json")
    assert found["best"] == "envs=8"
    assert [rival["setting"] for rival in found["confirmation"]["rivals"]] == ["envs=4"]
    assert found["confirmation"]["standing"] == "proven"
    assert found["confirmation"]["sentence"].startswith("Proven: envs=8 is faster than its neighbours")
    assert found["curves"][0]["law"]["serial"]["value"] < 0.2
    again = rlprof(folder, "sweep", "--resume", "confirmed", "--confirm")
    assert "Proven: envs=8" in again.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train.py"], "nothing to vary"),
        (["-p", "envs=1,2"], "which program?"),
        (["-p", "workers=1,2", "train.py"], "nothing takes the parameter workers"),
        (["-p", "envs=1", "train.py", "{envs}", "{seed}"], "the command has {seed}"),
        (["-p", "affinity=99999", "train.py"], "names processor 99999, but there are only"),
        (["-p", "envs=1", "missing.py", "{envs}"], "there is no script missing.py"),
        (["-p", "envs=1", "--chart", "x.txt", "train.py", "{envs}"], "the name has to end in one of"),
        (["--resume", "nowhere"], "there is no experiment"),
        (["--resume", "x", "-p", "envs=1"], "leave out -p"),
    ],
)
def test_wrong_use_ends_with_one_line_and_2(folder: Path, words: list[str], said: str) -> None:
    found = rlprof(folder, "sweep", *words)
    assert found.code == 2
    assert said in found.err
    assert len(found.err.strip().splitlines()) == 1
