"""What the order of events says about the training loop: when it turns, and which forward passes are for learning.

Collecting and learning alternate. The first env step after an update begins a new iteration. A forward pass with
gradients that ends in `backward` is learning, and so is the arithmetic between the two; one that is followed by an env
step was acting, whoever forgot to switch gradients off, and the place that made it is known from then on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from rlprof import _core
from rlprof.probes.groups import LOSS
from rlprof.probes.stages import ROLLOUT_END, TARGET, Stages
from rlprof.record.turns import infer_turn

Site = tuple[Any, int]


class Loop(threading.local):
    """A thread's training loop: environments that a second thread steps do not end this one's loss.

    The core knows whether a loss is open and whether an optimizer has stepped, and follows both by itself once there is
    nobody here who wants to be told.
    """

    def __init__(self) -> None:
        self._listener: Callable[[], None] | None = None
        self.forget()

    def __reduce__(self) -> str:
        """Wrapped methods of a script's classes travel to other processes whole, and find the loop that is there."""
        return "loop"

    def forget(self) -> None:
        """Begin anew: in a forked child, what the parent was in the middle of is not the child's."""
        self._acting_sites: set[Site] = set()
        self._stages = Stages()
        _core.forget_places()
        _core.forget_loop()

    @property
    def listener(self) -> Callable[[], None] | None:
        """Who is told of events, for as long as it wants to be."""
        return self._listener

    @listener.setter
    def listener(self, listener: Callable[[], None] | None) -> None:
        self._listener = listener
        _core.settle_steps(False)
        _core.leave_alone(False)

    def _leave_alone_if_may_be(self) -> None:
        """Have the core follow the loop where nobody listens and no place acts with gradients: for good if nothing is
        inferred, else for as long as nothing is new.
        """
        if self._listener is None and not self._acting_sites:
            if self._stages.over:
                _core.leave_alone(True)
            else:
                _core.follow_stages(self._stages.paths_that_may_go_on)

    def env_step(self) -> int:
        """The environment is about to step. Nanoseconds of it that a window took, which are not rlprof's own."""
        return self._look() if _core.begin_env_step() else 0

    def look(self) -> None:
        """The same for a hook of the core, which books the time spent here as rlprof's own: that of a window is not."""
        in_windows = self._look()
        if in_windows:
            _core.charge(-in_windows)

    def _look(self) -> int:
        """What an env step means that is about to begin. Until something else happens, further ones mean nothing."""
        in_windows = 0
        if self._listener is not None:
            self._listener()
        loss = _core.open_loss()
        if loss is not None:
            code, at, context = loss
            if code is not None and context >= 0:
                self._stages.doubt((code, at, context))
            elif code is not None:
                self._acting_sites.add((code, at))
                _core.leave_alone(False)
            _core.end_loss()
        if _core.is_updated():
            _core.set_updated(False)
            in_windows = infer_turn()
        if not self._stages.over:
            self._stages.note_env_step()
        _core.settle_steps(self._listener is None)
        self._leave_alone_if_may_be()
        return in_windows

    def acts(self, site: Site) -> bool:
        """Whether forwards with gradients from this place have turned out to be acting."""
        # Most programs have no such place, and hashing code takes as long as half a span.
        return bool(self._acting_sites) and site in self._acting_sites

    def begin_loss(self, site: Site | None, context: int = -1) -> None:
        """A forward pass with gradients begins, or a target's in some `context`: what follows belongs to the loss until
        `backward`."""
        if self._listener is not None:
            self._listener()
        if _core.open_loss() is None and not _core.is_busy(LOSS):
            if not self._stages.over:
                self._stages.note_loss()
            code, at = site or (None, 0)
            _core.begin_loss(LOSS, code, at, context)
            self._leave_alone_if_may_be()

    def acts_for_learning(self, site: Site) -> bool:
        """A forward without gradients, from a place that means something or while the program learns.

        Whether it is the target of a loss, which then begins with it.
        """
        context = _core.context_here()
        kind = self._stages.places.get((*site, context))
        if kind == TARGET:
            self.begin_loss(site, context)
            return True
        if kind == ROLLOUT_END:
            self._stages.begin_advantage()
            _core.follow_stages(0)
            _core.settle_steps(False)
        else:
            self._stages.begin_collecting()
        return False

    def give_up_stages(self) -> None:
        """The program marks its work itself."""
        self._stages.give_up()
        _core.follow_stages(0)

    def end_stages(self) -> None:
        """Close what was inferred and is still open."""
        _core.end_loss()
        _core.follow_stages(0)
        self._stages.end()

    def update(self, optimizer: Any = None) -> None:
        """An optimizer has stepped."""
        if not self._stages.over:
            self._stages.note_optimizer(optimizer)
        _core.set_updated(True)
        _core.infer_count("updates")


loop = Loop()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=loop.forget)
