"""Machines that run a trial each at a time, and what comes home from them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from rlprof.experiments.arms import Arm, ArmsJournal
from rlprof.experiments.executor import MOST_LOST, TrialsFail
from rlprof.experiments.logbook import Trial
from rlprof.experiments.rounds import RunArm
from rlprof.experiments.trial_process import Ended

POLL_SECONDS: Final = 1.0


class NoMachine(TrialsFail):
    """All machines of a cluster have gone away."""

    def __init__(self) -> None:
        super().__init__("no machine of the cluster is left; --resume goes on once there is one")


@dataclass(frozen=True)
class Returned:
    """What came home from a trial: how it ended and its files, by their suffix. `ended` is None if its node died."""

    node: str
    ended: Ended | None
    files: dict[str, bytes] = field(default_factory=dict)


class Cluster(Protocol):
    """Machines that run a trial each at a time."""

    def nodes(self) -> Sequence[str]:
        """Those that are there now."""
        ...

    def start(self, node: str, arm: Arm, timeout: float | None) -> None:
        """Begin a trial on a node that runs none."""
        ...

    def wait(self, seconds: float) -> Returned | None:
        """The next trial that comes to its end, if one does in time."""
        ...

    def stop(self) -> None:
        """End all trials."""
        ...


def bring_home(found: Returned, target: Path) -> None:
    """Write what a trial left beside the others: its recording as `target`, and what it printed."""
    for suffix, content in found.files.items():
        _write(target.with_suffix(suffix), content)


def run_arm_on(cluster: Cluster) -> RunArm:
    """Runs single trials on whichever machine is there, as `rounds.run_arm` does here; others take over if it dies."""

    def run(journal: ArmsJournal, number: int, arm: Arm, name: str) -> Trial:
        began = time.monotonic()
        node, ended = None, Ended("lost", None, 0.0, None)
        try:
            for _ in range(MOST_LOST):
                found = _one_trial(cluster, arm, journal.plan.timeout)
                bring_home(found, journal.directory / name)
                node, ended = found.node, found.ended or Ended("lost", None, time.monotonic() - began, None)
                if found.ended is not None:
                    break
        except KeyboardInterrupt:
            cluster.stop()
            ended = Ended("interrupted", None, time.monotonic() - began, None)
        return Trial(number, arm.name, name, ended.outcome, ended.exit_code, ended.seconds, ended.other_load, node=node)

    return run


def _one_trial(cluster: Cluster, arm: Arm, timeout: float | None) -> Returned:
    nodes = cluster.nodes()
    if not nodes:
        raise NoMachine
    cluster.start(nodes[0], arm, timeout)
    found = None
    while found is None:
        found = cluster.wait(POLL_SECONDS)
    return found


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, as a recording that is cut off would look damaged."""
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(content)
    draft.replace(path)
