"""Runs rounds on several machines at once: each round on one of them, so that its arms share that machine's luck."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from rlprof.experiments.arms import Arm, ArmsJournal
from rlprof.experiments.executor import TrialsFail, Watcher
from rlprof.experiments.logbook import Trial
from rlprof.experiments.rounds import Drop, Enough, give_up_if_hopeless, may_begin, missing_in_round, next_session
from rlprof.experiments.trial_process import Ended

_POLL_SECONDS: Final = 1.0


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


@dataclass
class _Busy:
    """A trial that runs, and the round that its node is at."""

    number: int
    arm: str
    recording: str
    began: float


class ClusterRounds:
    """Deals rounds out to nodes. Warm-ups are left out: no node would profit from another's."""

    def __init__(self, journal: ArmsJournal, watcher: Watcher, cluster: Cluster) -> None:
        self._journal = journal
        self._watcher = watcher
        self._cluster = cluster
        self._session = next_session(journal)
        self._busy: dict[str, _Busy] = {}
        self._round_of: dict[str, int] = {}
        self._ended = False

    def run(self, drop: Drop | None = None, enough: Enough | None = None) -> bool:
        """Run what is missing; whether it ended before all rounds were run."""
        try:
            while self._deal(drop, enough):
                found = self._cluster.wait(_POLL_SECONDS)
                if found is not None:
                    self._note(found)
        except BaseException:
            self._break_off()
            raise
        return self._ended

    def _deal(self, drop: Drop | None, enough: Enough | None) -> bool:
        """Give every idle node its next trial; whether anything runs."""
        nodes = list(self._cluster.nodes())
        for node in set(self._round_of) - set(nodes) - set(self._busy):
            del self._round_of[node]  # it is gone; what is left of its round goes to another
        for node in nodes:
            if node not in self._busy:
                self._next_on(node, drop, enough)
        if not nodes and not self._busy:
            raise TrialsFail("no machine of the cluster is left; --resume goes on once there is one")
        return bool(self._busy)

    def _next_on(self, node: str, drop: Drop | None, enough: Enough | None) -> None:
        number = self._round_of.get(node)
        if number is None or not self._missing(number, node):
            number = self._free_round(node, drop, enough)
        if number is None:
            self._round_of.pop(node, None)
            return
        self._round_of[node] = number
        name = self._missing(number, node)[0]
        recording = self._journal.free_name(number, name)
        (self._journal.directory / recording).with_suffix(".log").touch()  # the name is taken from now on
        self._watcher.begins(number, name)
        self._busy[node] = _Busy(number, name, recording, time.monotonic())
        self._cluster.start(node, self._journal.plan.arm(name), self._journal.plan.timeout)

    def _missing(self, number: int, node: str) -> list[str]:
        return missing_in_round(self._journal, number, self._session, node)

    def _free_round(self, node: str, drop: Drop | None, enough: Enough | None) -> int | None:
        taken = {number for other, number in self._round_of.items() if other != node}
        for number in range(self._journal.plan.runs):
            if number in taken or not self._missing(number, node):
                continue
            if not may_begin(self._journal, number, drop, enough):
                self._ended = True
                return None
            if self._missing(number, node):
                return number
        return None

    def _note(self, found: Returned) -> None:
        busy = self._busy.pop(found.node)
        target = self._journal.directory / busy.recording
        for suffix, content in found.files.items():
            _write(target.with_suffix(suffix), content)
        ended = found.ended or Ended("lost", None, time.monotonic() - busy.began, None)
        self._append(busy, ended, found.node)
        if ended.outcome == "interrupted":
            raise KeyboardInterrupt
        give_up_if_hopeless(self._journal, busy.arm)

    def _append(self, busy: _Busy, ended: Ended, node: str) -> None:
        trial = Trial(
            busy.number, busy.arm, busy.recording, ended.outcome, ended.exit_code, ended.seconds, ended.other_load,
            session=self._session, node=node,
        )  # fmt: skip
        self._journal.trials.append(trial)
        self._journal.save()
        self._watcher.ended(trial)

    def _break_off(self) -> None:
        self._cluster.stop()
        for node, busy in self._busy.items():
            self._append(busy, Ended("interrupted", None, time.monotonic() - busy.began, None), node)
        self._busy.clear()


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, as a recording that is cut off would look damaged."""
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(content)
    draft.replace(path)
