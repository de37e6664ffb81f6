"""What a noted stretch of a vector environment's step was spent with."""

from __future__ import annotations

from typing import Final

SENT: Final = 0  # the parent sent actions; where one call does all, it holds the wait
WAITED: Final = 1  # the parent waited for the answers
SIMULATED: Final = 2  # a worker's environment stepped, and was reset where that is part of a step
