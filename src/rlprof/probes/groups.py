"""Groups of calls of which only the outermost counts."""

from __future__ import annotations

from typing import Final

ENV: Final = 1
RESET: Final = 2
FORWARD: Final = 3
LOSS: Final = 4
RENDER: Final = 5
BUFFER: Final = 6
EVALUATE: Final = 7
OPTIMIZER: Final = 8
TRAIN: Final = 9
CALLBACK: Final = 10
CHECKPOINT: Final = 11
LOG: Final = 12
ADVANTAGE: Final = 13
WEIGHTS: Final = 14
START: Final = 15
LEARNING: Final = 16
TENSORDICT: Final = 17
TEACHER: Final = 18
