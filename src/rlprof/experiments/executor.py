"""Runs the trials of an experiment one after the other, each as `rlprof run` would, and notes how each ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Final, Protocol

from rlprof.experiments import load
from rlprof.experiments.journal import Journal, Outcome, Trial
from rlprof.experiments.one_at_a_time import turn_of_this_trial
from rlprof.experiments.schedule import BASELINE, Variant, order_of_pair
from rlprof.model.errors import RlprofError

#: How long a program that was told to end may take for it before it is killed.
GRACE_SECONDS: Final = 10.0
#: So many failures of one side, with no success of it, and the command is taken to be wrong.
HOPELESS: Final = 2
_PR_SET_PDEATHSIG: Final = 1


class TrialsFail(RlprofError):
    """A command of the experiment does not work."""


class Watcher(Protocol):
    """Is told what goes on. All of it may do nothing."""

    def begins(self, pair: int, variant: Variant) -> None: ...

    def ended(self, trial: Trial) -> None: ...


RunTrial = Callable[[Journal, int, Variant, str], Trial]


def run_trials(
    journal: Journal, watcher: Watcher, settled: Callable[[Journal], bool], run: RunTrial | None = None
) -> bool:
    """Run what is missing; whether it stopped early. A KeyboardInterrupt passes through with everything saved."""
    run = run or run_command
    _supersede_broken_pairs(journal)
    for pair, variant in _missing(journal):
        if pair >= 0 and _is_first_of_pair(journal, pair) and settled(journal):
            return True
        name = _free_name(journal, pair, variant)
        watcher.begins(pair, variant)
        trial = run(journal, pair, variant, name)
        journal.trials.append(trial)
        journal.save()
        watcher.ended(trial)
        if trial.outcome == "interrupted":
            raise KeyboardInterrupt
        _stop_if_hopeless(journal, variant)
    return False


def _missing(journal: Journal) -> Iterator[tuple[int, Variant]]:
    """Warm-ups, then the pairs; a pair that failed in part is not tried again."""
    plan = journal.plan
    done = {(t.pair, t.variant) for t in journal.trials if t.outcome != "interrupted" and not t.superseded}
    warmed = sum(t.pair < 0 and t.outcome == "completed" for t in journal.trials)
    for number in range(warmed, plan.warm_up_runs):
        yield -1, order_of_pair(plan.seed, number)[0]
    for pair in range(plan.runs):
        for variant in order_of_pair(plan.seed, pair):
            if (pair, variant) not in done:
                yield pair, variant


def _supersede_broken_pairs(journal: Journal) -> None:
    """The half of a pair that was interrupted lies back in time: the pair is run again, the half stays on record."""
    sides: dict[int, list[Trial]] = {}
    for trial in journal.trials:
        if trial.pair >= 0 and not trial.superseded:
            sides.setdefault(trial.pair, []).append(trial)
    for pair, trials in sides.items():
        done = {t.variant for t in trials if t.outcome != "interrupted"}
        if len(done) < 2:
            journal.trials = [replace(t, superseded=True) if t.pair == pair else t for t in journal.trials]


def _is_first_of_pair(journal: Journal, pair: int) -> bool:
    return not any(t.pair == pair and not t.superseded for t in journal.trials)


def _free_name(journal: Journal, pair: int, variant: Variant) -> str:
    stem = f"{variant}-{pair + 1:03d}" if pair >= 0 else f"warm-up-{variant}"
    name, attempt = stem, 1
    while any((journal.directory / f"{name}{suffix}").exists() for suffix in (".rlprof", ".rlprof.parts", ".log")):
        attempt += 1
        name = f"{stem}-{attempt}"
    return f"{name}.rlprof"


def _stop_if_hopeless(journal: Journal, variant: Variant) -> None:
    outcomes = [t.outcome for t in journal.trials if t.variant == variant]
    if "completed" in outcomes or sum(o in ("failed", "timeout") for o in outcomes) < HOPELESS:
        return
    last = next(t for t in reversed(journal.trials) if t.variant == variant)
    how = "ran into the time limit" if last.outcome == "timeout" else f"failed with exit code {last.exit_code}"
    log = journal.directory / Path(last.recording).with_suffix(".log")
    raise TrialsFail(f"--{'a' if variant == BASELINE else 'b'} {how} {HOPELESS} times; what it said is in {log}")


# --- one trial --------------------------------------------------------------------------------------------------------


def run_command(journal: Journal, pair: int, variant: Variant, name: str) -> Trial:
    """Run one side once, recorded, and wait for its end. What it prints goes into a file beside its recording."""
    command = [sys.executable, "-m", "rlprof", "run", "--quiet", "--no-html"]
    command += ["--out", str(journal.directory / name)]
    command += journal.plan.command(variant)
    with turn_of_this_trial(), open((journal.directory / name).with_suffix(".log"), "wb") as log:
        before = load.now()
        outcome, code = _wait(_start(command, log), journal.plan.timeout)
        after = load.now()
    return Trial(pair, variant, name, outcome, code, after.clock - before.clock, load.other_share(before, after))


def _start(command: list[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C is for the experiment, which ends its trial in order.
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 (no threads here)
    )


def _end_with_parent() -> None:
    """A trial that outlives a killed experiment would run beside the next one."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(child: subprocess.Popen[bytes], timeout: float | None) -> tuple[Outcome, int | None]:
    try:
        code = child.wait(timeout)
    except subprocess.TimeoutExpired:
        _end(child)
        return "timeout", None
    except KeyboardInterrupt:
        _end(child)
        return "interrupted", None
    except BaseException:
        _end(child)
        raise
    return ("completed" if code == 0 else "failed"), code


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ask it to end, so that its recording is finished; then make it, with everything it started."""
    deadline = time.monotonic() + GRACE_SECONDS
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGTERM)
    while child.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(KeyboardInterrupt):  # impatience does not leave a training behind that nobody sees
            time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
