"""How much a pair counts on a machine that others use.

What others do in the one run of a pair and not in the other looks like a difference of the programs. The share of the
machine that others used is measured in each run. A pair whose runs differ in it by much counts for less, as its log
ratio is less certain by that much. Nothing is decided by how fast a run was, so that no result can be preferred.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rlprof.model.recording import FloatColumn

#: Differences in others' use that are too small to matter, and hardly larger than the error of measuring it.
UNNOTICED: Final = 0.02
#: The log ratios' own spread is taken to be no less than this: runs are never more alike.
LEAST_SPREAD: Final = 0.003
#: Weights that leave fewer pairs than this leave nothing to judge by: Student's t of one or two is wider than anything.
FEWEST_LEFT: Final = 3.0
_MAD_TO_SIGMA: Final = 1.4826


def disturbances_of(loads: Sequence[tuple[float | None, float | None]]) -> list[float] | None:
    """By how much others' share of the machine differed in each pair; None where it is not known of all of them."""
    found = [abs(a - b) for a, b in loads if a is not None and b is not None]
    return found if len(found) == len(loads) else None


def weights_of(log_ratios: FloatColumn, disturbances: Sequence[float] | None) -> FloatColumn:
    """1 for an undisturbed pair; less, as its variance grows by the square of what disturbed it.

    Others that use a tenth of the machine more are taken to slow a run by up to a tenth, unless the pairs speak
    against it: a program that waits for something else than a core does not feel them, and all its pairs count alike.
    So they do where others were there nearly always: pairs come in random order, so that their scatter tells enough.
    """
    alike = np.ones(len(log_ratios), np.float64)
    if disturbances is None:
        return alike
    away = np.abs(log_ratios - float(np.median(log_ratios)))
    spread = max(_MAD_TO_SIGMA * float(np.median(away)), LEAST_SPREAD)
    beyond = np.maximum(np.asarray(disturbances, np.float64) - UNNOTICED, 0.0)
    variances = 1.0 + np.square(beyond / spread)
    squares = np.square(away / spread)
    felt, unfelt = np.sum(np.log(variances) + squares / variances), np.sum(squares)
    weights = np.asarray(1.0 / variances, np.float64)
    return weights if felt < unfelt and effective(weights) >= FEWEST_LEFT else alike


def effective(weights: FloatColumn) -> float:
    """How many pairs of equal weight are worth as much (Kish)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())
