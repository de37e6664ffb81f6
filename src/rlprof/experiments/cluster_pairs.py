"""Comparisons on several machines: each pair on one of them, so that its sides share that machine's luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from rlprof.experiments.arms import Arm
from rlprof.experiments.cluster import Cluster
from rlprof.experiments.cluster_rounds import ClusterRounds
from rlprof.experiments.executor import MOST_LOST, Watcher, stop_if_hopeless, supersede_broken_pairs
from rlprof.experiments.journal import Journal
from rlprof.experiments.logbook import Trial
from rlprof.experiments.schedule import BASELINE, CANDIDATE, order_of_pair


class PairRounds:
    """The pairs of a comparison as rounds of two."""

    def __init__(self, journal: Journal, settled: Callable[[Journal], bool]) -> None:
        self.journal = journal
        self._settled = settled

    def missing(self, number: int, node: str) -> list[str]:
        """Half of a pair that ran on another machine does not count: both sides are missing then."""
        trials = self._trials(number)
        ended = {trial.variant for trial in trials if trial.came_to_its_end}
        lost = Counter(t.variant for t in self.journal.trials if t.pair == number and t.outcome == "lost")
        if ended == {BASELINE, CANDIDATE} or max(lost.values(), default=0) >= MOST_LOST:
            return []
        here = {trial.variant for trial in trials if trial.came_to_its_end and trial.node == node}
        return [variant for variant in order_of_pair(self.journal.plan.seed, number) if variant not in here]

    def may_begin(self, number: int) -> bool:
        """What was begun is finished, whatever has become clear meanwhile."""
        return any(trial.came_to_its_end for trial in self._trials(number)) or not self._settled(self.journal)

    def begins(self, number: int, node: str) -> None:
        self.journal.trials = [
            replace(trial, superseded=True) if trial.pair == number and trial.node != node else trial
            for trial in self.journal.trials
        ]

    def arm(self, variant: str) -> Arm:
        return Arm(variant, self.journal.plan.a if variant == BASELINE else self.journal.plan.b)

    def give_up_if_hopeless(self, variant: str) -> None:
        stop_if_hopeless(self.journal, variant)

    def _trials(self, number: int) -> list[Trial]:
        return [trial for trial in self.journal.trials if trial.pair == number and not trial.superseded]


def run_pairs_on(cluster: Cluster, journal: Journal, watcher: Watcher, settled: Callable[[Journal], bool]) -> bool:
    """As `executor.run_trials`, on the machines of a cluster."""
    supersede_broken_pairs(journal)
    return ClusterRounds(PairRounds(journal, settled), watcher, cluster).run()
