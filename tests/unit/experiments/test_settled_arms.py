"""Which arms need no more rounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rlprof.experiments.arm_comparisons import Readings, settled_arms
from rlprof.experiments.arms import BASELINE_ARM, Arm, ArmsJournal, ArmsPlan, Conduct
from rlprof.experiments.statistics import Centre, centre_of


class Given(Readings):
    """Log ratios as they are told."""

    def __init__(self, journal: ArmsJournal, told: dict[str, list[float]]) -> None:
        super().__init__(journal)
        self._told = told

    def centre(self, arm: str, baseline: str = BASELINE_ARM) -> Centre | None:
        return centre_of(self._told[arm]) if arm in self._told else None


def settled(told: dict[str, list[float]], *, early_stop: bool = True) -> set[str]:
    arms = tuple(Arm(name, ("t.py",)) for name in (BASELINE_ARM, *told))
    journal = ArmsJournal(Path(), ArmsPlan("sweep", arms, Conduct(10, 1, early_stop=early_stop)))
    return {entry.arm for entry in settled_arms(journal, Given(journal, told))}


def test_a_clear_difference_and_a_proven_tie_are_settled_and_the_rest_goes_on() -> None:
    told = {
        "faster": [0.50, 0.51, 0.49, 0.50, 0.505],
        "slower": [-0.50, -0.51, -0.49, -0.50, -0.505],
        "equal": [0.001, -0.001, 0.0005, 0.0, -0.0005],
        "unclear": [0.2, -0.1, 0.3, 0.0, 0.1],
        "four": [0.50, 0.51, 0.49, 0.50],
    }
    assert settled(told) == {"faster", "slower", "equal"}
    assert settled(told, early_stop=False) == set()


def test_looking_at_many_equal_arms_after_every_round_seldom_settles_on_a_difference() -> None:
    source = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        ratios = source.normal(0.0, 0.2, (6, 10))
        alarms += any(
            settled({str(arm): row[:rounds].tolist() for arm, row in enumerate(ratios)}) for rounds in range(5, 11)
        )
    assert alarms <= 5  # one in a hundred is the budget of early looks
