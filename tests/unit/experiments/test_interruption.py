"""An interrupt that got lost in a moment nobody listens is raised before the next trial."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from rlprof.cli.trials import ended_as_by_ctrl_c
from rlprof.experiments.interruption import Interruption
from rlprof.experiments.trial_process import run_recorded


def test_who_was_asked_raises_until_it_begins_anew() -> None:
    asked = Interruption()
    asked.raise_if_asked()
    asked.ask()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            asked.raise_if_asked()
    asked.forget()
    asked.raise_if_asked()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_lost_interrupt_starts_no_further_trial(number: signal.Signals, tmp_path: Path) -> None:
    with ended_as_by_ctrl_c():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            pass  # as where an object that goes away ignores it
        with pytest.raises(KeyboardInterrupt):
            run_recorded(("no-such-script.py",), tmp_path / "run.rlprof", None)
    assert not list(tmp_path.iterdir())
    with ended_as_by_ctrl_c():  # the next experiment of this process is not asked
        ended = run_recorded(("no-such-script.py",), tmp_path / "run.rlprof", None)
    assert ended.outcome == "failed"
