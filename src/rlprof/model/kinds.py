"""How a span came to be. Each kind has its own calibrated cost."""

from __future__ import annotations

from typing import Final

WITH: Final = 0  # `with profile(...)`
FUNCTION: Final = 1  # a decorated function or method
GENERATOR: Final = 2  # a decorated generator: one span from its first step to its end
COROUTINE: Final = 3  # a decorated coroutine
MEMORY: Final = 4  # a span with track_memory=True, whose exact peak costs a system call or two
ITERATION: Final = 5  # one turn of the training loop: structure, not work

KINDS: Final[tuple[int, ...]] = (WITH, FUNCTION, GENERATOR, COROUTINE, MEMORY, ITERATION)
