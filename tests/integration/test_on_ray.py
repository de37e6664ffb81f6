"""Experiments with `--on ray`, on a cluster of several nodes, one of which dies."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rlprof.experiments.arms import ArmsJournal, open_arms
from rlprof.experiments.journal import open_journal
from rlprof.experiments.logbook import Trial
from rlprof.recording import open_recording
from support.installed import need
from support.programs import RLPROF, environment, run, started, wait_for, write_program
from support.training import SLEEPY

pytestmark = pytest.mark.timeout(600)

#: A cluster of two nodes that can work, in a process of its own: Ray leaves hooks behind. A line on stdin ends a node.
#: No new one takes its place: on one machine, a node that starts takes away what the others were sent.
NODES = """
    import sys
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    for line in sys.stdin:
        cluster.remove_node(nodes.pop(), allow_graceful=False)
    cluster.shutdown()
"""
PLAN = """
[baseline]
command = "train.py --turns 10"

[settings]
runs = 2

[[hypothesis]]
name = "quicker update"
expect = 1.5
confidence = 0.8
effort = 1
changes_learning = false
change.arguments = "--update-ms 1"
"""


class Nodes:
    """The cluster as a test sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        lines = (line.strip() for line in process.stdout)
        self.address = next(line for line in lines if re.fullmatch(r"[\d.]+:\d+", line))

    def end_one(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()


@contextlib.contextmanager
def two_nodes(folder: Path) -> Iterator[Nodes]:
    need("ray")
    command = [sys.executable, str(write_program(folder, NODES, "nodes.py"))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Nodes(process)
            process.stdin.close()
            process.wait(60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A cluster for one test, which ends a node of it."""
    with two_nodes(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
def there(cluster: Nodes, tmp_path: Path) -> dict[str, str]:
    """The environment of commands that use the cluster, in a folder with a program."""
    write_program(tmp_path, SLEEPY, "train.py")
    return environment(RAY_ADDRESS=cluster.address)


def assert_recordings_are_home(directory: Path, trials: list[Trial]) -> None:
    assert trials
    assert all(trial.node for trial in trials)
    done = [trial for trial in trials if trial.outcome == "completed"]
    assert all(open_recording(directory / trial.recording).main.counters for trial in done)


def test_the_rounds_of_a_sweep_run_on_the_nodes(there: dict[str, str], tmp_path: Path) -> None:
    done = run([*RLPROF, "sweep", "--on", "ray", "-p", "envs=1,4", "--runs", "2", "--out", "exp", "--json", "out.json",
                "--", "train.py", "--envs", "{envs}", "--turns", "10"], tmp_path, env=there)  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out.json").read_text())
    assert [setting["runs"] for setting in found["settings"]] == [2, 2]
    assert found["best"] == "envs=4"
    journal = open_arms(tmp_path / "exp", "sweep")
    for number in range(2):
        assert len({trial.node for trial in journal.trials if trial.pair == number}) == 1
    assert_recordings_are_home(tmp_path / "exp", journal.trials)


@pytest.mark.slow
def test_the_pairs_of_a_comparison_run_on_the_nodes(there: dict[str, str], tmp_path: Path) -> None:
    done = run([*RLPROF, "compare", "--on", "ray", "--a", "train.py --turns 9", "--b", "train.py --turns 9 --step-ms 9",
                "--runs", "2", "--out", "exp", "--json", "out.json"], tmp_path, env=there)  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["pairs"] == 2
    assert found["overall"]["ratio"] < 1
    journal = open_journal(tmp_path / "exp")
    assert all(a.node == b.node for a, b in journal.complete_pairs())
    assert_recordings_are_home(tmp_path / "exp", journal.trials)


@pytest.mark.slow
def test_the_tests_of_an_investigation_run_on_the_nodes(there: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    done = run([*RLPROF, "investigate", "plan.toml", "--on", "ray", "--out", "exp", "--json", "out.json"],
               tmp_path, env=there)  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["hypotheses"][0]["measured"]["pairs"] == 2
    for journal in journals_of(tmp_path / "exp"):
        assert_recordings_are_home(journal.directory, journal.trials)


def journals_of(directory: Path) -> list[ArmsJournal]:
    """The first look and the test of the only hypothesis."""
    found = [open_arms(file.parent, "investigate") for file in sorted(directory.glob("*/experiment.json"))]
    assert len(found) == 2
    return found


#: Each command with enough to do that a node dies in the midst of it.
LONG = {
    "sweep": ["-p", "envs=1,4", "--runs", "2", "--", "train.py", "--envs", "{envs}", "--turns", "300"],
    "compare": ["--a", "train.py --turns 300", "--b", "train.py --turns 301", "--runs", "2", "--no-early-stop"],
    "investigate": ["plan.toml"],
}


@pytest.mark.slow  # each has a cluster of its own
@pytest.mark.parametrize("command", LONG)
def test_a_node_that_dies_costs_only_its_trial(mortal: Nodes, tmp_path: Path, command: str) -> None:
    there = environment(RAY_ADDRESS=mortal.address)
    write_program(tmp_path, SLEEPY, "train.py")
    (tmp_path / "plan.toml").write_text(PLAN.replace("--turns 10", "--turns 300"))
    with started([*RLPROF, command, "--on", "ray", "--out", "exp", *LONG[command]], tmp_path, env=there) as process:
        wait_for(lambda: len(list(names_taken(tmp_path / "exp"))) >= 2, "both nodes at work", 300)
        mortal.end_one()
        _, err = process.communicate(timeout=500)
    assert process.returncode == 0, err
    if command == "compare":
        pairs = open_journal(tmp_path / "exp")
        assert len(pairs.complete_pairs()) == 2
        trials, directory = pairs.trials, tmp_path / "exp"
    else:
        arms = open_arms(tmp_path / "exp", "sweep") if command == "sweep" else journals_of(tmp_path / "exp")[-1]
        assert [len({trial.pair for trial in arms.completed(name)}) for name in arms.plan.variants] == [2, 2]
        trials, directory = arms.trials, arms.directory
    assert [trial.outcome for trial in trials].count("lost") == 1
    assert_recordings_are_home(directory, trials)


def names_taken(directory: Path) -> Iterator[Path]:
    """Trials that were begun, without the first look of an investigation."""
    return (log for log in directory.rglob("*.log") if not log.name.startswith("warm-up"))


@pytest.mark.slow
def test_ctrl_c_ends_the_trials_on_the_nodes_and_resuming_goes_on(there: dict[str, str], tmp_path: Path) -> None:
    command = [*RLPROF, "sweep", "--on", "ray", "-p", "mode=works,hangs", "--runs", "1", "--out", "exp",
               "--", "train.py", "--mode", "{mode}", "--turns", "10"]  # fmt: skip
    with started(command, tmp_path, env=there) as process:
        hanging = tmp_path / "exp" / "mode=hangs-001.log"
        wait_for(hanging.exists, "the trial that hangs", 300)
        wait_for(lambda: trials_alive("--mode hangs"), "its program", 100)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "rlprof sweep --resume exp" in err
    wait_for(lambda: not trials_alive("--mode hangs"), "the end of the program on its node", 60)
    outcomes = {trial.variant: trial.outcome for trial in open_arms(tmp_path / "exp", "sweep").trials}
    assert outcomes["mode=hangs"] == "interrupted"
    resumed = run([*RLPROF, "sweep", "--resume", "exp", "--on", "ray", "--timeout", "8"], tmp_path, env=there)
    assert resumed.code == 0, resumed.err
    outcomes = {trial.variant: trial.outcome for trial in open_arms(tmp_path / "exp", "sweep").trials}
    assert outcomes == {"mode=works": "completed", "mode=hangs": "timeout"}


def trials_alive(words: str) -> list[psutil.Process]:
    """Programs with these words in their command, other than the sweep itself."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if words in line and "rlprof sweep" not in line and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
