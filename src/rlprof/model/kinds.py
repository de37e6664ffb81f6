"""How a span came to be. Each kind has its own calibrated cost."""

from __future__ import annotations

from typing import Final

WITH: Final = 0  # `with profile(...)`
FUNCTION: Final = 1  # a decorated function or method
GENERATOR: Final = 2  # a decorated generator: a span for each step
COROUTINE: Final = 3  # a decorated coroutine: a span for each stretch in which it runs
MEMORY: Final = 4  # a span with track_memory=True, whose exact peak costs a system call or two
ITERATION: Final = 5  # one turn of the training loop: structure, not work

ROOT: Final = 6  # the root of a thread's tree: no span, so no cost
PROBE: Final = 7  # put around a library's function from outside
SITE: Final = 8  # put around a call that is counted by the place that makes it
LEVEL: Final = 9  # put around a method inside another call of its kind, by the core itself

PASSED: Final = 10  # no span: a call that is looked at and let through
UNTIMED: Final = 11  # no span: a call that is counted and not timed

#: The kinds of spans, each with a cost.
KINDS: Final[tuple[int, ...]] = (WITH, FUNCTION, GENERATOR, COROUTINE, MEMORY, ITERATION, PROBE, SITE, LEVEL)
