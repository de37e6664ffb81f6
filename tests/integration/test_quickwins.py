"""`rlprof quickwins` from end to end, on a program that sleeps where another would work: that is steady anywhere."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import jsonschema
import pytest

from rlprof.experiments.arms import open_arms
from rlprof.experiments.quickwins import arm_name
from rlprof.render.json import quickwins_schema
from support.programs import RLPROF, Json, Outcome, run, started, wait_for, write_program

pytestmark = pytest.mark.timed

PROGRAM = """
    import time
    import rlprof

    class Agent:
        def log(self):
            time.sleep(0.004)
        def draw(self):
            time.sleep(0.004)
        def count(self):
            return 1
        def crash(self):
            return "fine"

    agent = Agent()
    for _ in range(20):
        rlprof.iteration()
        with rlprof.profile("step", phase="env.step"):
            time.sleep(0.004)
            agent.log()
            agent.draw()
        rlprof.count("env_steps", agent.count())
        agent.crash().upper()
"""

LOG, DRAW, CRASH = (f"skip:train:Agent.{name}" for name in ("log", "draw", "crash"))


def try_cures(folder: Path, *cures: str) -> Outcome:
    write_program(folder, PROGRAM, "train.py")
    words = [word for cure in cures for word in ("--only", cure)]
    options = ["--budget", "5m", "--seed", "1", "--out", "trials", "--json", "found.json", "--markdown", "found.md"]
    return run([*RLPROF, "quickwins", *options, *words, "--", "train.py"], folder, target=folder)


def read(tried: Outcome) -> Json:
    assert tried.code == 0, tried.err
    found: Json = json.loads((tried.target / "found.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(quickwins_schema()).validate(found)
    return found


def test_a_cure_is_measured_what_breaks_or_does_nothing_is_said_and_all_is_shown_again(tmp_path: Path) -> None:
    tried = try_cures(tmp_path, LOG, CRASH, "no-validate")
    log, crash, idle = read(tried)["cures"]
    assert (log["state"], crash["state"], idle["state"]) == ("measured", "failed", "nothing-to-do")
    assert log["gain"]["verdict"] == "faster"
    assert log["gain"]["low"] > 1
    assert log["results"]["kind"] == "same"
    said = " ".join(tried.out.split())
    assert f"{LOG} makes it" in said
    assert "no-validate has nothing to do here: the program imports no torch" in said
    assert f"{CRASH}: the program fails with it (exit code 1)" in said
    again = run([*RLPROF, "quickwins", "--resume", "trials", "--budget", "1s"], tried.target)
    assert again.code == 0, again.err
    assert f"{LOG} makes it" in " ".join(again.out.split())
    assert "round" not in again.err


@pytest.mark.slow
def test_winners_are_measured_together(tmp_path: Path) -> None:
    tried = try_cures(tmp_path, LOG, DRAW)
    found = read(tried)
    assert found["together"]["cures"] == [LOG, DRAW]
    assert found["together"]["gain"]["verdict"] == "faster"
    assert found["together"]["gain"]["ratio"] > max(entry["gain"]["ratio"] for entry in found["cures"])
    assert "2 cures together make it" in " ".join(tried.out.split())
    assert "all together" in (tried.target / "found.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "the command is empty"),
        (["--", "nowhere.py"], "there is no script nowhere.py"),
        (["--only", "nonsense", "--", "train.py"], "there is no treatment 'nonsense'"),
        (["--budget", "soon", "--", "train.py"], "is no length of time"),
        (["--resume", "nowhere"], "there is no experiment in nowhere"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    write_program(tmp_path, "print()", "train.py")
    done = run([*RLPROF, "quickwins", *words], tmp_path)
    assert done.code == 2
    assert done.err.startswith("rlprof: ")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_program_that_does_not_work_is_said(tmp_path: Path) -> None:
    write_program(tmp_path, "raise SystemExit(3)", "train.py")
    done = run([*RLPROF, "quickwins", "--only", "threads=1", "--", "train.py"], tmp_path)
    assert done.code == 2
    assert "the program as it is failed with exit code 3" in done.err


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_resuming_goes_on(tmp_path: Path) -> None:
    write_program(tmp_path, PROGRAM, "train.py")
    command = [*RLPROF, "quickwins", "--only", LOG, "--budget", "5m", "--out", "trials", "--", "train.py"]
    with started(command, tmp_path) as process:
        wait_for((tmp_path / "trials" / "baseline-001.rlprof").exists, "the first round", 100)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "rlprof quickwins --resume trials" in err
    before = open_arms(tmp_path / "trials", "quickwins").trials
    resumed = run([*RLPROF, "quickwins", "--resume", "trials", "--budget", "15s"], tmp_path)
    assert resumed.code == 0, resumed.err
    after = open_arms(tmp_path / "trials", "quickwins")
    assert after.trials[: len(before)] == before
    assert len(after.pairs(arm_name(LOG))) >= 1


@pytest.mark.slow
def test_a_cure_under_which_the_program_hangs_is_told_and_costs_nothing_else(tmp_path: Path) -> None:
    hangs = PROGRAM.replace("agent.crash().upper()", "while agent.crash() is None: time.sleep(0.05)")
    write_program(tmp_path, hangs, "train.py")
    words = [
        "--only",
        CRASH,
        "--only",
        LOG,
        "--budget",
        "25s",
        "--timeout",
        "6",
        "--out",
        "trials",
        "--json",
        "found.json",
    ]
    done = run([*RLPROF, "quickwins", *words, "--", "train.py"], tmp_path, target=tmp_path)
    crash, log = read(done)["cures"]
    assert crash["state"] == "failed"
    assert "it does not end" in crash["why"]
    assert log["gain"]["pairs"] >= 1


def test_cures_are_listed(tmp_path: Path) -> None:
    done = run([*RLPROF, "quickwins", "--list"], tmp_path)
    assert done.code == 0
    assert "compile-acting" in done.out
    assert "(may change results)" in done.out
