"""Runs rounds on several machines at once: each round on one of them, so that its arms share that machine's luck.

What a round is, `ArmRounds` says for experiments with arms, and `cluster_pairs.PairRounds` for comparisons.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

from rlprof.experiments.arms import Arm, ArmsJournal
from rlprof.experiments.cluster import POLL_SECONDS, Cluster, NoMachine, Returned, bring_home
from rlprof.experiments.executor import Watcher
from rlprof.experiments.interruption import interruption
from rlprof.experiments.logbook import Logbook, Trial
from rlprof.experiments.rounds import Drop, Enough, give_up_if_hopeless, may_begin, missing_in_round, next_session
from rlprof.experiments.trial_process import Ended


class Rounds(Protocol):
    """What is to be run, round by round."""

    @property
    def journal(self) -> Logbook[Any]: ...

    def missing(self, number: int, node: str) -> list[str]:
        """The variants of a round that are still to run, in order, if this node runs it."""
        ...

    def may_begin(self, number: int) -> bool:
        """Whether a round is still wanted."""
        ...

    def begins(self, number: int, node: str) -> None:
        """A node takes this round, or goes on with it."""
        ...

    def arm(self, variant: str) -> Arm: ...

    def give_up_if_hopeless(self, variant: str) -> None:
        """Called after each trial."""
        ...


class ArmRounds:
    """Rounds of an experiment with arms."""

    def __init__(self, journal: ArmsJournal, drop: Drop | None = None, enough: Enough | None = None) -> None:
        self.journal = journal
        self._drop = drop
        self._enough = enough
        self._session = next_session(journal)

    def missing(self, number: int, node: str) -> list[str]:
        return missing_in_round(self.journal, number, self._session, node)

    def may_begin(self, number: int) -> bool:
        return may_begin(self.journal, number, self._drop, self._enough)

    def begins(self, number: int, node: str) -> None:
        """Arms that ran elsewhere stay as they are: they are held against a baseline of their own place."""

    def arm(self, variant: str) -> Arm:
        return self.journal.plan.arm(variant)

    def give_up_if_hopeless(self, variant: str) -> None:
        give_up_if_hopeless(self.journal, variant)


@dataclass
class _Busy:
    """A trial that runs, and the round that its node is at."""

    number: int
    arm: str
    recording: str
    began: float


class ClusterRounds:
    """Deals rounds out to nodes. Warm-ups are left out: no node would profit from another's."""

    def __init__(self, rounds: Rounds, watcher: Watcher, cluster: Cluster) -> None:
        self._rounds = rounds
        self._journal = rounds.journal
        self._watcher = watcher
        self._cluster = cluster
        self._session = next_session(rounds.journal)
        self._busy: dict[str, _Busy] = {}
        self._round_of: dict[str, int] = {}
        self._ended = False

    def run(self) -> bool:
        """Run what is missing; whether it ended before all rounds were run."""
        try:
            while self._deal():
                interruption.raise_if_asked()
                found = self._cluster.wait(POLL_SECONDS)
                if found is not None:
                    self._note(found)
        except BaseException:
            self._break_off()
            raise
        return self._ended

    def _deal(self) -> bool:
        """Give every idle node its next trial; whether anything runs."""
        nodes = list(self._cluster.nodes())
        for node in set(self._round_of) - set(nodes) - set(self._busy):
            del self._round_of[node]  # it is gone; what is left of its round goes to another
        for node in nodes:
            if node not in self._busy:
                self._next_on(node)
        if not nodes and not self._busy:
            raise NoMachine
        return bool(self._busy)

    def _next_on(self, node: str) -> None:
        number = self._round_of.get(node)
        if number is None or not self._rounds.missing(number, node):
            number = self._free_round(node)
        if number is None:
            self._round_of.pop(node, None)
            return
        self._round_of[node] = number
        self._rounds.begins(number, node)
        name = self._rounds.missing(number, node)[0]
        recording = self._journal.free_name(number, name)
        (self._journal.directory / recording).with_suffix(".log").touch()  # the name is taken from now on
        self._watcher.begins(number, name)
        self._busy[node] = _Busy(number, name, recording, time.monotonic())
        self._cluster.start(node, self._rounds.arm(name), self._journal.plan.timeout)

    def _free_round(self, node: str) -> int | None:
        taken = {number for other, number in self._round_of.items() if other != node}
        for number in range(self._journal.plan.runs):
            if number in taken or not self._rounds.missing(number, node):
                continue
            if not self._rounds.may_begin(number):
                self._ended = True
                return None
            if self._rounds.missing(number, node):
                return number
        return None

    def _note(self, found: Returned) -> None:
        busy = self._busy.pop(found.node)
        bring_home(found, self._journal.directory / busy.recording)
        ended = found.ended or Ended("lost", None, time.monotonic() - busy.began, None)
        self._append(busy, ended, found.node)
        if ended.outcome == "interrupted":
            raise KeyboardInterrupt
        self._rounds.give_up_if_hopeless(busy.arm)

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


def run_rounds_on(
    cluster: Cluster, journal: ArmsJournal, watcher: Watcher, *, drop: Drop | None = None, enough: Enough | None = None
) -> bool:
    """As `rounds.run_rounds`, on the machines of a cluster."""
    return ClusterRounds(ArmRounds(journal, drop, enough), watcher, cluster).run()
