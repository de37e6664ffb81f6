"""What a finding's cure is as a change that can be tried, where it is known; else the words what to fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

#: Hours of work, roughly: a setting, a few lines, a piece of code to write anew.
SETTING: Final = 0.2
LINES: Final = 1.0
REWRITE: Final = 4.0

_ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Prescription:
    """A change, or what has to be filled in for one. `may_skip`: the function that is named can be left out to see."""

    effort: float
    treatments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    fill_in: str = ""
    may_skip: bool = False


_YOURS: Final = "the argument of your program that does what the action says, or none: leave the function out to see"

PRESCRIPTIONS: Final[dict[str, Prescription]] = {
    "thread-oversubscription": Prescription(SETTING, environment=_ONE_THREAD),
    "gc-pauses": Prescription(SETTING, ("gc-freeze",)),
    "distribution-validation": Prescription(SETTING, ("no-validate",)),
    "logging-cost": Prescription(LINES, ("mute-logging",)),
    "vecenv-ipc": Prescription(LINES, ("serial-vecenv",)),
    "serial-env-idle-cores": Prescription(LINES, ("subproc-vecenv",)),
    "update-ratio": Prescription(
        SETTING, fill_in="the argument that sets updates per step, such as --gradient-steps 4"
    ),
    "tiny-minibatch": Prescription(SETTING, fill_in="the argument that sets the minibatch, such as --batch-size 256"),
    "evaluation-cost": Prescription(SETTING, fill_in="the argument that sets how often is evaluated", may_skip=True),
    "checkpoint-pause": Prescription(SETTING, fill_in="the argument that sets how often is saved", may_skip=True),
    "render-cost": Prescription(LINES, fill_in="the argument that turns rendering off or makes frames smaller"),
    "straggler": Prescription(LINES, fill_in="the argument that sets the number of workers or of envs for each"),
    "teacher-cost": Prescription(LINES, fill_in="the argument that has the teacher asked less often"),
    "env-hotspot": Prescription(REWRITE, fill_in=_YOURS, may_skip=True),
    "cost-grows": Prescription(REWRITE, fill_in=_YOURS, may_skip=True),
    "sync-in-loop": Prescription(LINES, fill_in=_YOURS),
    "unattributed-high": Prescription(REWRITE, fill_in=_YOURS, may_skip=True),
}
_DEFAULT: Final = Prescription(REWRITE, fill_in=_YOURS)


def prescription_for(rule: str) -> Prescription:
    return PRESCRIPTIONS.get(rule, _DEFAULT)
