"""A cluster that is none: what becomes of each trial is said beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlprof.experiments.arms import Arm
from rlprof.experiments.cluster import Returned
from rlprof.experiments.logbook import Outcome, Trial
from rlprof.experiments.trial_process import Ended


class Quiet:
    def begins(self, pair: int, variant: str) -> None:
        pass

    def ended(self, trial: Trial) -> None:
        pass


class Machines:
    """Stands in for a cluster. `becomes` says what becomes of the nth trial: an outcome, or None if its node dies."""

    def __init__(self, nodes: Sequence[str], becomes: Callable[[int], Outcome | None] = lambda _: "completed") -> None:
        self.alive = list(nodes)
        self.running: list[tuple[str, str]] = []
        self.log: list[tuple[str, str]] = []
        self.becomes = becomes
        self.stopped = False

    def nodes(self) -> Sequence[str]:
        return list(self.alive)

    def start(self, node: str, arm: Arm, timeout: float | None) -> None:
        assert node not in [busy for busy, _ in self.running], "one trial per machine at a time"
        self.running.append((node, arm.name))
        self.log.append((node, arm.name))

    def wait(self, seconds: float) -> Returned | None:
        node, _ = self.running.pop(0)
        outcome = self.becomes(len(self.log) - len(self.running))
        if outcome is None:
            self.alive.remove(node)
            return Returned(node, None)
        files = {".rlprof": b"recording", ".log": b"said"} if outcome == "completed" else {".log": b"said"}
        return Returned(node, Ended(outcome, 1 if outcome == "failed" else 0, 1.0, None), files)

    def stop(self) -> None:
        self.stopped = True


def ctrl_c_after(trials: int) -> Callable[[int], Outcome]:
    """So many trials complete; then somebody wants it to end."""

    def becomes(number: int) -> Outcome:
        if number > trials:
            raise KeyboardInterrupt
        return "completed"

    return becomes
