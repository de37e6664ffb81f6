"""The bound on a finding's gain in words."""

from __future__ import annotations

from typing import Final

from rlprof.model.report import Gain
from rlprof.model.units import format_ratio

#: Where the two figures are as close as this, one is enough.
_CLOSE: Final = 1.02


def bound_of(gain: Gain) -> str:
    """The upper end, and before it what the time itself would bring, all else as it is, where that is less."""
    highest = f"at most {format_ratio(gain.high)}"
    if gain.high < gain.sps_ratio * _CLOSE:
        return highest
    return f"{format_ratio(gain.sps_ratio)} by its own time; {highest}, as the rest may run faster without it"
