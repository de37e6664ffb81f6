"""What the order of events says about the work between the calls that probes see, in a program that marks nothing.

From the first loss on, the program learns until it acts again: choosing minibatches has no call of its own. Then it
collects until a loss begins. What comes before its first update may be anything. A forward pass without gradients that
a loss follows with no env step in between does not act. Where it asks a network that is never trained, or there was
only a step or two to learn from, it is the target of that loss. Else the values at the end of a rollout were asked for,
and what follows up to the loss are its advantages. Of several, the last is looked at so; the others are targets only
where they ask a network that is never trained. All that is asked between a draw from a replay buffer and the loss, or
an update, is a target: an actor that is trained may be asked there for its next action.

One place may act and help to learn, where one function asks a network for both: what it means may differ after an env
step, after a draw and after an update.

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
#: Libraries that nobody loads but to have them run the loop. Of Stable-Baselines3 its probe says when a loop begins:
#: many programs with a loop of their own take its replay buffer.
LOOPS: Final = ("torchrl.collectors", "tianshou", "skrl", "ray.rllib")

#: Its code, the instruction there, and what had happened last: see `_core.context_here`.
Place = tuple[CodeType, int, int]
#: Of the losses that seemed to begin with a target, one in so many may turn out to be acting, as at a rollout's start.
FEW_WRONG: Final = 4

_core.set_stage_group(LEARNING)


class Stages:
    """The inferred spans of one thread's training loop."""

    def __init__(self) -> None:
        self.places: dict[Place, str] = {}
        self._acting: set[Place] = set()  # that were taken for targets once
        self._wrong: dict[Place, int] = {}  # how often targets turned out to act
        self._sightings: dict[tuple[Place, str], int] = {}
        self._trained: set[int] = set()  # parameters of optimizers, by address
        self._optimizers: set[int] = set()
        self._advantage: Any = None
        self.over = False  # nothing is inferred any more
        self._acted = 0
        self._paths = 0  # as many as were looked at

    @property
    def paths_that_may_go_on(self) -> int:
        """With so many paths, those that were looked at here, the core can follow what comes next. 0: it cannot."""
        return self._paths if self._trained and self._advantage is None else 0

    def note_optimizer(self, optimizer: Any) -> None:
        """An optimizer has stepped."""
        if optimizer is not None and id(optimizer) not in self._optimizers:
            self._optimizers.add(id(optimizer))
            self._trained.update(id(p) for group in optimizer.param_groups for p in group["params"])
        _core.note_update()
        acted, forwards = _core.last_actings()
        if acted != self._acted:
            self._acted = acted
            for code, at, context, _, drawn in forwards:
                if drawn:
                    self._see((code, at, context), TARGET)
        self._begin_learning()

    def note_env_step(self) -> None:
        """The environment is about to step."""
        self.end_advantage()
        self.begin_collecting()

    def _begin_learning(self) -> None:
        _core.end_collecting()
        if not _core.is_staged() and self._may_open():
            _core.begin_learning()

    def begin_collecting(self) -> None:
        _core.end_learning()
        if self._trained and not _core.is_staged() and self._may_open():
            _core.begin_collecting()

    def note_loss(self) -> None:
        """A loss begins: look back at the forwards without gradients since the last env step."""
        self.end_advantage()
        self._begin_learning()
        acted, forwards = _core.last_actings()
        if not forwards or acted == self._acted or not self._trained or _core.is_busy(TRAIN):
            return
        self._acted = acted
        few = _core.steps_since_update() < FEWEST_STEPS
        *earlier, (code, at, context, module, sampled) = forwards
        self._see((code, at, context), TARGET if few or sampled or self._is_untrained(module) else ROLLOUT_END)
        for code, at, context, module, sampled in earlier:
            # One that is trained may have acted, where the program learns before it steps.
            if sampled or self._is_untrained(module):
                self._see((code, at, context), TARGET)

    def _see(self, place: Place, kind: str) -> None:
        if place in self.places or place in self._acting or len(self.places) >= MOST_PLACES:
            return
        seen = self._sightings[place, kind] = self._sightings.get((place, kind), 0) + 1
        if seen >= SIGHTINGS:
            self.places[place] = kind
            _core.watch_place(*place, kind == TARGET)

    def doubt(self, place: Place) -> None:
        """An env step follows what was taken for a loss's target: it acted. Where that is no exception, it acts."""
        wrong = self._wrong[place] = self._wrong.get(place, 0) + 1
        if place in self.places and FEW_WRONG * wrong > _core.losses_begun_at(*place):
            del self.places[place]
            self._acting.add(place)
            _core.unwatch_place(*place)

    def _is_untrained(self, module: Any) -> bool:
        """Whether this is a network, and no optimizer's."""
        try:
            parameters = [id(p) for p in module.parameters()]
        except Exception:  # no module after all
            return False
        return bool(parameters) and self._trained.isdisjoint(parameters)

    def begin_advantage(self) -> None:
        _core.end_learning()
        _core.end_collecting()
        if self._advantage is None and not _core.is_busy(ADVANTAGE) and self._may_open():
            self._advantage = _core.guarded_span("advantage", "advantage", PROBE, ADVANTAGE)
            self._advantage.__enter__()

    def end_advantage(self) -> None:
        span, self._advantage = self._advantage, None
        if span is not None:
            span.__exit__(None, None, None)

    def end(self) -> None:
        """Close what is open."""
        self.end_advantage()
        _core.end_learning()
        _core.end_collecting()

    def give_up(self) -> None:
        """The program marks its work itself: a span of its own inside an inferred one would count towards its phase."""
        if not self.over:
            self.over = True
            self.end()

    def _may_open(self) -> bool:
        if self.over:
            return False
        in_loop = bool(_core.is_in_loop())
        paths = _core.path_count()
        if paths != self._paths:
            if any(name in sys.modules for name in LOOPS) or (in_loop and _core.has_own_spans()):
                self.give_up()
                return False
            if in_loop:  # else whose they are is seen when it is
                self._paths = paths
        return in_loop
