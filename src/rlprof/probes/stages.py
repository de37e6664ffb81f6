"""What the order of events says about the work between the calls that probes see, in a program that marks nothing.

From the first loss on, the program learns until it acts again: choosing minibatches has no call of its own. Then it
collects until a loss begins. What comes before its first update may be anything. A forward pass without gradients that
a loss follows with no env step in between does not act. Where it asks a network that is never trained, or there was
only a step or two to learn from, it is the target of that loss. Else the values at the end of a rollout were asked for,
and what follows up to the loss are its advantages.

A program that marks its work itself, or a library that runs the loop, knows better: nothing is inferred there.
"""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes.groups import ADVANTAGE, LEARNING, TRAIN

FEWEST_STEPS: Final = 4  # of a rollout
SIGHTINGS: Final = 2  # before a place is believed to be what it looks like
MOST_PLACES: Final = 8
TARGET: Final = "target"
ROLLOUT_END: Final = "rollout end"
#: Libraries that run the loop themselves.
LOOPS: Final = ("stable_baselines3", "torchrl.collectors", "tianshou", "skrl", "ray.rllib")

Place = tuple[CodeType, int]


class Stages:
    """The inferred spans of one thread's training loop."""

    def __init__(self) -> None:
        self.places: dict[Place, str] = {}
        self._sightings: dict[tuple[Place, str], int] = {}
        self._trained: set[int] = set()  # parameters of optimizers, by address
        self._optimizers: set[int] = set()
        self._learning: Any = None
        self._collecting: Any = None
        self._advantage: Any = None
        self.over = False  # nothing is inferred any more
        self._steps_before = 0  # env steps when an optimizer last stepped
        self._acted = 0
        self._paths = -1

    def note_optimizer(self, optimizer: Any) -> None:
        """An optimizer has stepped."""
        if optimizer is not None and id(optimizer) not in self._optimizers:
            self._optimizers.add(id(optimizer))
            self._trained.update(id(p) for group in optimizer.param_groups for p in group["params"])
        self._steps_before = _core.env_steps_here()
        self._begin_learning()

    def note_env_step(self) -> None:
        """The environment is about to step."""
        self.end_advantage()
        self.end_learning()
        self.begin_collecting()

    def _begin_learning(self) -> None:
        self._close_collecting()
        if self._learning is None and self._may_open():
            self._learning = _opened("learning", "learn.other", LEARNING)
            _core.stage(True)

    def begin_collecting(self) -> None:
        if self._collecting is None and self._trained and self._may_open():
            self._collecting = _opened("collecting", None, LEARNING)

    def note_loss(self) -> None:
        """A loss begins: look back at the last forward without gradients."""
        self.end_advantage()
        self._begin_learning()
        last = _core.last_acting()
        if last is None or last[0] == self._acted or _core.is_busy(TRAIN):
            return
        self._acted, code, at, module = last
        place = (code, at)
        if place in self.places or len(self.places) >= MOST_PLACES or not self._trained:
            return
        kind = TARGET if self._is_target(module) else ROLLOUT_END
        seen = self._sightings[place, kind] = self._sightings.get((place, kind), 0) + 1
        if seen >= SIGHTINGS:
            self.places[place] = kind
            _core.watch_place(code, at)

    def _is_target(self, module: Any) -> bool:
        if _core.env_steps_here() - self._steps_before < FEWEST_STEPS:
            return True
        try:
            parameters = [id(p) for p in module.parameters()]
        except Exception:  # no module after all
            return False
        return bool(parameters) and self._trained.isdisjoint(parameters)

    def begin_advantage(self) -> None:
        self._close_collecting()
        if self._advantage is None and not _core.is_busy(ADVANTAGE) and self._may_open():
            self._advantage = _opened("advantage", "advantage", ADVANTAGE)

    def end_advantage(self) -> None:
        span, self._advantage = self._advantage, None
        _close(span)

    def end_learning(self) -> None:
        span, self._learning = self._learning, None
        if span is not None:
            _close(span)
            _core.stage(False)

    def _close_collecting(self) -> None:
        span, self._collecting = self._collecting, None
        _close(span)

    def end(self) -> None:
        """Close what is open."""
        self.end_advantage()
        self.end_learning()
        self._close_collecting()

    def give_up(self) -> None:
        """The program marks its work itself: a span of its own inside an inferred one would count towards its phase."""
        if not self.over:
            self.over = True
            self.end()

    def _may_open(self) -> bool:
        if self.over:
            return False
        paths = _core.path_count()
        if paths != self._paths:
            self._paths = paths
            if any(name in sys.modules for name in LOOPS) or (_core.is_in_loop() and _core.has_own_spans()):
                self.give_up()
                return False
        return bool(_core.is_in_loop())


def _opened(name: str, phase: str | None, group: int) -> Any:
    span = _core.guarded_span(name, phase, PROBE, group)
    span.__enter__()
    return span


def _close(span: Any) -> None:
    if span is not None:
        span.__exit__(None, None, None)
