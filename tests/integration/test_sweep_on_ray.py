"""`rlprof sweep --on ray` on a cluster of several nodes, one of which dies."""

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

from rlprof.experiments.arms import open_arms
from rlprof.recording import open_recording
from support.installed import need
from support.programs import RLPROF, environment, run, started, wait_for, write_program
from support.training import SLEEPY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


#: A cluster of two nodes that can work, in a process of its own: Ray leaves hooks behind. A line on stdin ends a node.
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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Nodes]:
    need("ray")
    script = write_program(tmp_path, NODES, "cluster/nodes.py")
    command = [sys.executable, str(script)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Nodes(process)
            process.stdin.close()
            process.wait(60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def test_trials_run_on_the_nodes_and_recordings_come_home(cluster: Nodes, tmp_path: Path) -> None:
    write_program(tmp_path, SLEEPY, "train.py")
    done = run([*RLPROF, "sweep", "--on", "ray", "-p", "envs=1,4", "--runs", "2", "--out", "exp", "--json", "out.json",
                "--", "train.py", "--envs", "{envs}", "--turns", "10"],
               tmp_path, env=environment(RAY_ADDRESS=cluster.address))  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "out.json").read_text())
    assert [setting["runs"] for setting in found["settings"]] == [2, 2]
    assert found["best"] == "envs=4"
    journal = open_arms(tmp_path / "exp", "sweep")
    for number in range(2):
        assert len({trial.node for trial in journal.trials if trial.pair == number}) == 1
    assert all(open_recording(tmp_path / "exp" / trial.recording).main.counters for trial in journal.trials)


def test_a_node_that_dies_costs_only_its_trial(cluster: Nodes, tmp_path: Path) -> None:
    write_program(tmp_path, SLEEPY, "train.py")
    command = [*RLPROF, "sweep", "--on", "ray", "-p", "envs=1,4", "--runs", "3", "--out", "exp",
               "--", "train.py", "--envs", "{envs}", "--turns", "400"]  # fmt: skip
    with started(command, tmp_path, env=environment(RAY_ADDRESS=cluster.address)) as process:
        wait_for(lambda: list((tmp_path / "exp").glob("*.log")), "the first trial", 300)
        wait_for(lambda: len(list((tmp_path / "exp").glob("*.log"))) >= 2, "both nodes at work", 300)
        cluster.end_one()
        _, err = process.communicate(timeout=500)
    assert process.returncode == 0, err
    journal = open_arms(tmp_path / "exp", "sweep")
    assert sum(trial.outcome == "lost" for trial in journal.trials) == 1
    assert [len(journal.completed(name)) for name in journal.plan.variants] == [3, 3]


def test_ctrl_c_ends_the_trials_on_the_nodes_and_resuming_goes_on(cluster: Nodes, tmp_path: Path) -> None:
    write_program(tmp_path, SLEEPY, "train.py")
    command = [*RLPROF, "sweep", "--on", "ray", "-p", "mode=works,hangs", "--runs", "1", "--out", "exp",
               "--", "train.py", "--mode", "{mode}", "--turns", "10"]  # fmt: skip
    there = environment(RAY_ADDRESS=cluster.address)
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
    resumed = run([*RLPROF, "sweep", "--resume", "exp", "--on", "ray", "--timeout", "20"], tmp_path, env=there)
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
