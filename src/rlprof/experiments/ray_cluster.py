"""Trials on the nodes of a Ray cluster, one per node at a time. Ray is imported only here, and only when asked for."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rlprof.experiments.arms import Arm
from rlprof.experiments.cluster import POLL_SECONDS, Returned
from rlprof.experiments.doubted_nodes import DoubtedNodes
from rlprof.experiments.interruption import interruption
from rlprof.experiments.trial_process import Ended, run_recorded
from rlprof.model.errors import BadOption
from rlprof.recording.place import RUNS_DIRECTORY

#: Never sent to the nodes with the working directory.
_NOT_SENT: Final = (RUNS_DIRECTORY, "*.rlprof", "*.rlprof.parts", ".git", "__pycache__")


def run_in_task(arm: Arm, timeout: float | None) -> tuple[Ended, dict[str, bytes]]:
    """On a node: run a trial in a directory of its own, and give back all that it left."""
    with tempfile.TemporaryDirectory(prefix="rlprof-trial-") as directory:
        target = Path(directory) / "trial.rlprof"
        ended = run_recorded(arm.words(), target, timeout, arm.surroundings())
        files = {suffix: target.with_suffix(suffix) for suffix in (".rlprof", ".log")}
        return ended, {suffix: file.read_bytes() for suffix, file in files.items() if file.is_file()}


class RayCluster:
    """The nodes of a cluster that is there already, found as Ray finds it (RAY_ADDRESS, or this machine's)."""

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise BadOption("--on ray needs Ray: pip install 'rlprof[ray]'") from None
        self._ray: Any = ray
        self._running: dict[Any, str] = {}
        self._doubted = DoubtedNodes()
        if ray.is_initialized():
            return
        sent = {"working_dir": os.getcwd(), "excludes": list(_NOT_SENT)}
        try:
            ray.init(
                address=address or os.environ.get("RAY_ADDRESS") or "auto",
                runtime_env=sent,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            said = str(error).strip().splitlines()
            raise BadOption(f"there is no Ray cluster to run on: {said[0] if said else error!r}") from None

    def nodes(self) -> Sequence[str]:
        """Those that are there and lost no trial just now; where all have, this waits until it is clear which live."""
        while True:
            alive = sorted(self._alive())
            trusted = self._doubted.trusted(alive)
            if trusted or not alive:
                return trusted
            interruption.raise_if_asked()
            time.sleep(POLL_SECONDS)

    def _alive(self) -> dict[str, dict[str, Any]]:
        """Nodes by a name that a person knows: their address and the beginning of their id."""
        found = {}
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                found[f"{node['NodeManagerAddress']}/{node['NodeID'][:6]}"] = node
        return found

    def start(self, node: str, arm: Arm, timeout: float | None) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = self._alive().get(node)
        if there is None:  # it went away since it was named; waiting for it says so
            self._running[self._ray.put(None)] = node
            return
        # All of the node: nothing of Ray's runs beside a trial, and its devices are seen by it.
        task = self._ray.remote(run_in_task).options(
            num_cpus=there["Resources"]["CPU"],
            num_gpus=there["Resources"].get("GPU", 0),
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(there["NodeID"], soft=False),
        )
        self._running[task.remote(arm, timeout)] = node

    def wait(self, seconds: float) -> Returned | None:
        if not self._running:
            return None
        done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        if not done:
            return None
        node = self._running.pop(done[0])
        try:
            found = self._ray.get(done[0])
        except self._ray.exceptions.RayTaskError as error:
            raise BadOption(f"a trial could not be run on {node}: {str(error).strip().splitlines()[-1]}") from None
        except self._ray.exceptions.RayError:  # the node died, or its worker was killed
            found = None
        if found is None:
            self._doubted.lost_on(node)
            return Returned(node, None)
        return Returned(node, found[0], found[1])

    def stop(self) -> None:
        for task in self._running:
            try:
                self._ray.cancel(task, force=False)
            except (self._ray.exceptions.RayError, ValueError, TypeError):
                continue  # it has ended already, or was never begun
        self._running.clear()
