"""Functions and methods of the program whose name says that they test the policy, once they were seen to do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.model.kinds import PROBE
from rlprof.probes import compiling
from rlprof.probes.groups import EVALUATE
from rlprof.probes.guesses import list_inferred

#: A method `evaluate` asks a policy about actions, as often as not: env steps in it tell the one from the other.
NAMES: Final = (
    "evaluate", "evaluation", "evaluate_policy", "evaluate_agent", "evaluate_model", "eval_policy", "eval_agent",
    "eval_model", "eval_episode", "eval_episodes", "run_evaluation", "run_eval", "do_eval", "test", "test_policy",
    "test_agent", "test_model", "test_episode", "run_test", "validate", "validate_policy",
)  # fmt: skip
#: Env steps outside of it: where there are none, playing in it is how the program gathers its experience.
FEWEST_OUTSIDE: Final = 10

_guarded_span = _core.guarded_span
_is_busy = _core.is_busy
_env_steps = _core.env_steps_here


class _Tested:
    """What is known of one such function: whether environments are stepped in it, and outside of it."""

    def __init__(self) -> None:
        self.inside = 0
        self.listed = False

    @property
    def is_evaluation(self) -> bool:
        return self.inside > 0 and _env_steps() - self.inside >= FEWEST_OUTSIDE


def timed_evaluation(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A span around each call; the first ones only show whether there are env steps in it."""

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        known = _Tested()

        def call(*args: Any, **kwargs: Any) -> Any:
            if compiling.is_compiling() or _is_busy(EVALUATE):
                return original(*args, **kwargs)
            before = _env_steps()
            try:
                if not known.is_evaluation:
                    return original(*args, **kwargs)
                if not known.listed:
                    known.listed = True
                    list_inferred(name, original, "evaluate")
                try:
                    with _guarded_span("evaluate", "evaluate", PROBE, EVALUATE):
                        return original(*args, **kwargs)
                finally:
                    _core.settle_steps(False)  # the program's own next step begins to collect anew
            finally:
                known.inside += _env_steps() - before

        return call

    return wrap
