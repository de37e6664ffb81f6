"""`rlprof compare`, `rlprof check`, `alternate` and the pytest fixture with real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from rlprof.experiments.batches import batches_of
from rlprof.experiments.journal import open_journal
from rlprof.recording import open_recording
from support.programs import RLPROF, Json, Outcome, environment, read_report, run, started, wait_for, write_program

pytestmark = pytest.mark.timed

#: A training loop whose update can be made to take several times as long. Sleeping is steady on a busy machine.
TRAIN = """
    import argparse, sys, time
    import rlprof

    parser = argparse.ArgumentParser()
    parser.add_argument("--update", type=float, default=0.002)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--hang", action="store_true")
    options = parser.parse_args()
    if options.fail:
        sys.exit("no such game")
    for _ in range(options.turns):
        rlprof.iteration()
        for _ in range(2):
            with rlprof.profile("env_step", phase="env.step"):
                time.sleep(0.002)
            rlprof.count("env_steps", 4)
        with rlprof.profile("update", phase="learn.loss"):
            time.sleep(options.update)
        while options.hang:
            time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("compare")
    write_program(directory, TRAIN, "train.py")
    return directory


def rlprof(folder: Path, *words: str) -> Outcome:
    return run([*RLPROF, *words], folder, env=environment(COLUMNS="100"))


def read_json(file: Path) -> Json:
    found: Json = json.loads(file.read_text())
    return found


@pytest.fixture(scope="module")
def experiment(folder: Path) -> Outcome:
    """Two commands, one with an update that takes three times as long."""
    return rlprof(folder, "compare", "--a", "train.py", "--b", "train.py --update 0.006", "--runs", "6", "--seed", "3",
                  "--out", "exp", "--json", "exp.json", "--markdown", "exp.md")  # fmt: skip


def test_commands_are_run_in_turns_and_the_slower_phase_is_found(folder: Path, experiment: Outcome) -> None:
    assert experiment.code == 0, experiment.err
    found = read_json(folder / "exp.json")
    assert found["overall"]["verdict"] == "slower"
    assert found["unit"] == "run"
    assert found["overall"]["high"] < 1
    phases = {row["phase"]: row for row in found["phases"]}
    assert phases["learn.loss"]["verdict"] == "slower"
    assert phases["learn.loss"]["ratio"] < 0.6
    assert phases["env.step"]["verdict"] in ("same", "cannot-tell")
    assert found["memory"]["verdict"] in ("same", "cannot-tell")
    assert "B is slower" in experiment.out
    assert (folder / "exp.md").read_text().startswith("## rlprof: comparison")


def test_progress_and_time_left_are_told_on_stderr(experiment: Outcome) -> None:
    lines = [line for line in experiment.err.splitlines() if line.startswith("pair ")]
    assert len(lines) >= 10
    assert "left at most" in lines[0]
    assert experiment.err.startswith("warm-up")


def test_every_trial_is_kept_with_its_load(folder: Path, experiment: Outcome) -> None:
    journal = open_journal(folder / "exp")
    assert journal.plan.b == ("train.py", "--update", "0.006")
    assert all((folder / "exp" / trial.recording).is_file() for trial in journal.trials)
    if sys.platform == "linux":
        assert all(trial.other_load is not None for trial in journal.trials)
    again = rlprof(folder, "compare", "exp", "--json", "-")
    assert json.loads(again.out)["overall"] == read_json(folder / "exp.json")["overall"]


def test_an_experiment_goes_on_to_more_runs_and_is_then_held_to_the_looks(folder: Path, experiment: Outcome) -> None:
    more = rlprof(folder, "compare", "--resume", "exp", "--runs", "7", "--json", "more.json")
    assert more.code == 0, more.err
    found = read_json(folder / "more.json")
    assert found["pairs"] >= 6 or found["stopped_early"]
    assert found["overall"]["level"] > 0.96 or found["pairs"] == 6


def test_recordings_are_compared_and_checked(folder: Path, experiment: Outcome) -> None:
    names = [sorted(str(p.relative_to(folder)) for p in (folder / "exp").glob(f"{side}-*.rlprof"))[:5] for side in "ab"]
    found = rlprof(folder, "compare", *names[0], "--", *names[1], "--json", "-")
    assert json.loads(found.out)["pairs"] == 5
    worse = rlprof(folder, "check", *names[1], "--baseline", *names[0], "--max-slowdown", "5%")
    assert worse.code == 1, worse.out
    assert worse.out.startswith("## rlprof: regression")
    better = rlprof(folder, "check", *names[0], "--baseline", *names[1])
    assert better.code == 0
    assert better.out.startswith("## rlprof: no regression")


def test_two_recordings_are_shown_side_by_side_without_a_verdict(folder: Path, experiment: Outcome) -> None:
    found = rlprof(folder, "compare", "exp/a-001.rlprof", "exp/b-001.rlprof")
    assert found.code == 0
    assert "Cannot tell" in found.out
    assert "few-pairs" in found.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare"], "nothing to compare"),
        (["compare", "train.py"], "name two recordings"),
        (["compare", "--a", "train.py"], "both sides need a command"),
        (["compare", "--a", "missing.py", "--b", "train.py"], "there is no script missing.py"),
        (["compare", "--a", "'", "--b", "train.py"], "cannot be split into words"),
        (["compare", "--resume", "nowhere"], "there is no experiment"),
        (["compare", "x.rlprof", "y.rlprof", "--margin", "5"], "is no share: write 5%"),
        (["compare", "missing.rlprof", "y.rlprof"], "there is no recording"),
        (["compare", "missing.rlprof", "--by", "turbo"], "there is no recording"),
        (["check", "x.rlprof"], "name recordings and a baseline"),
    ],
)
def test_wrong_use_ends_with_one_line_and_2(folder: Path, words: list[str], said: str) -> None:
    found = rlprof(folder, *words)
    assert found.code == 2
    assert said in found.err
    assert len(found.err.strip().splitlines()) == 1


def test_a_command_that_fails_says_where_its_words_are(folder: Path) -> None:
    found = rlprof(folder, "compare", "--a", "train.py --turns 3", "--b", "train.py --fail", "--out", "failing")
    assert found.code == 2
    log = max((folder / "failing").glob("b-*.log"))
    assert str(log.relative_to(folder)) in found.err
    assert "no such game" in log.read_text()


@pytest.mark.slow
def test_a_trial_that_hangs_is_ended_and_kept_apart(folder: Path) -> None:
    found = rlprof(folder, "compare", "--a", "train.py --turns 3", "--b", "train.py --hang", "--timeout", "3",
                   "--runs", "2", "--warm-up-runs", "0", "--out", "hanging")  # fmt: skip
    assert found.code == 2
    trials = open_journal(folder / "hanging").trials
    assert {trial.outcome for trial in trials if trial.variant == "b"} == {"timeout"}
    assert "ran into the time limit" in found.err
    assert open_recording(folder / "hanging" / "b-001.rlprof").main.counters["env_steps"].amount == 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_being_ended_keeps_what_was_measured_and_resuming_goes_on(folder: Path, number: signal.Signals) -> None:
    out = f"broken-{number.name}"
    command = [*RLPROF, "compare", "--a", "train.py --turns 40", "--b", "train.py --turns 40", "--runs", "2",
               "--warm-up-runs", "0", "--out", out]  # fmt: skip
    with started(command, folder) as process:
        wait_for(lambda: (folder / out / "experiment.json").exists() and open_journal(folder / out).trials,
                 "the first trial")  # fmt: skip
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"rlprof compare --resume {out}" in err
    before = open_journal(folder / out).trials
    assert before[0].outcome == "completed"
    resumed = rlprof(folder, "compare", "--resume", out)
    assert resumed.code == 0, resumed.err
    after = open_journal(folder / out)
    assert len(after.complete_pairs()) == 2
    assert {trial.recording for trial in before} < {trial.recording for trial in after.trials}


def test_a_killed_experiment_takes_its_trial_along(folder: Path) -> None:
    command = [
        *RLPROF,
        "compare",
        "--a",
        "train.py --hang",
        "--b",
        "train.py",
        "--warm-up-runs",
        "0",
        "--out",
        "killed",
    ]
    with started(command, folder) as process:
        trial = wait_for(lambda: psutil.Process(process.pid).children(recursive=True)[1:], "the training")
        process.kill()
        psutil.wait_procs(trial, timeout=30)
        assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in trial)


# --- alternate --------------------------------------------------------------------------------------------------------

ALTERNATES = """
    import random, time
    import rlprof

    random.seed(1)
    print(random.random(), end=" ")
    for turn in range(1150):
        rlprof.iteration()
        slow = rlprof.alternate("slow", [False, True])
        with rlprof.profile("update", phase="learn.loss"):
            time.sleep(0.008 if slow else 0.004)
        with rlprof.profile("env_step", phase="env.step"):
            time.sleep(0.002)
        rlprof.count("env_steps", 4)
    print(random.random())
"""


@pytest.fixture(scope="module")
def alternating(folder: Path) -> Outcome:
    write_program(folder, ALTERNATES, "alternating.py")
    return rlprof(folder, "run", "--quiet", "--no-html", "--out", "alternating.rlprof", "alternating.py")


def test_batches_of_one_run_are_compared_by_phase(folder: Path, alternating: Outcome) -> None:
    assert alternating.code == 0, alternating.err
    done = rlprof(folder, "compare", "alternating.rlprof", "--by", "slow", "--json", "-")
    found = json.loads(done.out)
    assert found["unit"] == "batch"
    assert found["pairs"] >= 5
    assert (found["baseline"]["name"], found["candidate"]["name"]) == ("slow = False", "slow = True")
    assert found["overall"]["verdict"] == "slower"
    phases = {row["phase"]: row for row in found["phases"]}
    assert phases["learn.loss"]["ratio"] == pytest.approx(4 / 8, abs=0.1)
    assert phases["env.step"]["ratio"] == pytest.approx(1, abs=0.25)


def test_batches_last_half_a_second_and_both_values_have_as_many(folder: Path, alternating: Outcome) -> None:
    batches = batches_of(open_recording(folder / "alternating.rlprof").main, "slow")
    lengths = [(batch.stretch.end_ns - batch.stretch.start_ns) / 1e9 for batch in batches]
    assert min(lengths) >= 0.49
    whole = batches[: len(batches) // 2 * 2]
    assert sum(batch.variant for batch in whole) == len(whole) // 2


def test_the_report_says_that_its_figures_are_of_both(folder: Path, alternating: Outcome) -> None:
    said = read_report(folder / "alternating.rlprof")["warnings"]
    notes = [warning for warning in said if "turns" in warning["message"]]
    assert [note["code"] for note in notes] == ["note-alternated"]
    assert notes[0]["remedy"] == "rlprof compare RECORDING --by slow tells them apart"


def test_another_name_is_refused_with_those_there_are(folder: Path, alternating: Outcome) -> None:
    found = rlprof(folder, "compare", "alternating.rlprof", "--by", "turbo")
    assert found.code == 2
    assert "it alternated slow" in found.err


def test_the_programs_own_random_numbers_are_left_alone(folder: Path, alternating: Outcome) -> None:
    program = "import random; random.seed(1); print(random.random(), random.random())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert alternating.out == done.stdout


def test_unrecorded_it_is_always_the_first_value(folder: Path) -> None:
    program = (
        "import rlprof, sys; print({rlprof.alternate('x', ('usual', 'new')) for _ in range(1000)});"
        "assert 'rlprof.record.session' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "{'usual'}\n", done.stderr


@pytest.mark.parametrize("values", [[], ["one"], ["one", "two", "three"]])
def test_anything_but_two_values_is_a_mistake_recorded_or_not(values: list[str]) -> None:
    from rlprof import alternate

    with pytest.raises(ValueError, match="takes two values"):
        alternate("x", values)


# --- pytest -----------------------------------------------------------------------------------------------------------

TESTED = """
    import os, time
    from rlprof import count, iteration, profile

    def train():
        for _ in range(30):
            iteration()
            with profile("update", phase="learn.loss"):
                time.sleep(float(os.environ["UPDATE"]))
            count("env_steps", 4)

    def test_training_is_as_fast_as_it_was(rlprof):
        print(rlprof.check(train))
"""


@pytest.mark.slow
def test_the_pytest_fixture_stores_a_baseline_and_fails_on_a_regression(tmp_path: Path) -> None:
    (tmp_path / "test_speed.py").write_text(textwrap.dedent(TESTED))

    def tested(update: str, *words: str) -> Outcome:
        plugin = ["-p", "no:rlprof", "-p", "rlprof.pytest_plugin", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", "-q", "-s", *plugin, *words, "test_speed.py"]
        return run(command, tmp_path, env=environment(UPDATE=update))

    first = tested("0.002")
    assert first.code == 0, first.out
    assert len(list((tmp_path / "rlprof-baselines").rglob("*.rlprof"))) == 5
    equal = tested("0.002")
    assert equal.code == 0, equal.out
    assert "no regression" in equal.out
    slower = tested("0.006")
    assert slower.code == 1
    assert "phase learn.loss takes longer by" in slower.out
    assert tested("0.006", "--rlprof-update").code == 0
