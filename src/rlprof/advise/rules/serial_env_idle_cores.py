"""`serial-env-idle-cores`: dear environments are stepped one after the other while other cores have nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlprof.advise.bounds import gain_of_saving, severity_of, training_seconds
from rlprof.advise.steps import envs_in_turn
from rlprof.advise.verify import run_again
from rlprof.analyse.core_use import CoreUse, core_use_of, cpu_seconds_of
from rlprof.analyse.step_callers import step_caller_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report
from rlprof.model.units import format_duration, format_percent, three_digits

RULE: Final = "serial-env-idle-cores"
SMALLEST_SHARE: Final = 0.5
#: Below this an environment's step is not worth a message to another process and back, however many there are.
CHEAPEST_STEP_SECONDS: Final = 0.6e-3
#: What the parent spends on one environment's action and answer, with the wake-ups, while no simulator runs.
MESSAGE_SECONDS: Final = 150e-6
#: In processes a step of all environments must be expected to be so many times as fast.
CROSSOVER: Final = 1.25
FEWEST_ENV_STEPS: Final = 100
#: The run leaves at least so much of its cores unused.
LEAST_IDLE: Final = 0.25
#: What nobody used; with less of it, processes are no faster at the time.
LEAST_IDLE_CORES: Final = 0.5
#: A main thread that is on a core, or ready for one, for less of the time waits for something else in its steps.
COMPUTING: Final = 0.7


@dataclass(frozen=True, slots=True)
class _Stepping:
    """How the main process steps its environments."""

    seconds: float
    share: float  # of the time after start-up
    env_step_seconds: float
    envs: int  # that one call steps, or calls in turn
    at_once: float  # how many of them could be stepped at the same time


def serial_env_idle_cores(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where most of the time is in dear env steps of one process that leaves cores unused."""
    use = core_use_of(recording)
    stepping = _stepping(recording, report, use) if use is not None else None
    if use is None or stepping is None or stepping.at_once <= 1.0:
        return
    if stepping.share <= SMALLEST_SHARE or not _pays(stepping):
        return
    if use.own > (1.0 - LEAST_IDLE) * use.cores:
        return
    gain = gain_of_saving(report, 0.0, stepping.seconds * (1.0 - 1.0 / stepping.at_once))
    severity = severity_of(gain)
    if severity is None:
        return
    # A program with one environment is not sick: more of them change what is learned. And where others kept the cores
    # busy, processes would only have waited for them.
    if stepping.envs == 1 or _taken(use):
        severity = "info"
    caller = step_caller_of(recording.main)
    yield Finding(
        rule=RULE,
        severity=severity,
        title=(
            f"{format_percent(stepping.share)} of the time goes into env steps of "
            f"{format_duration(stepping.env_step_seconds)} each, one after the other, and the run uses "
            f"{three_digits(use.own)} of {use.cores:g} cores"
        ),
        evidence=_evidence(use, stepping),
        where=(caller,) if caller is not None else (),
        gain=gain,
        cure=_cure(stepping, use),
        changes_learning=stepping.envs == 1,
        verify=run_again(report.run.command),
    )


def _pays(stepping: _Stepping) -> bool:
    """Whether a step of all environments in processes, messages included, is expected to be clearly shorter."""
    envs = max(float(stepping.envs), stepping.at_once)
    serial = envs * stepping.env_step_seconds
    aside = serial / stepping.at_once + envs * MESSAGE_SECONDS
    return stepping.env_step_seconds > CHEAPEST_STEP_SECONDS and serial >= CROSSOVER * aside


def _taken(use: CoreUse) -> bool:
    """Whether somebody else had the cores that this run left unused."""
    return use.others is not None and use.cores - use.own - use.others < LEAST_IDLE_CORES


def _stepping(recording: Recording, report: Report, use: CoreUse) -> _Stepping | None:
    phases = {entry.phase: entry for entry in report.phases}
    steps, env_steps = phases.get("env.step"), report.throughput.env_steps
    elsewhere = sum(phases[name].seconds for name in ("env.wait", "env.ipc") if name in phases)
    training = training_seconds(report)
    if steps is None or not env_steps or env_steps < FEWEST_ENV_STEPS or training <= 0:
        return None
    seconds = steps.seconds + (phases["env.reset"].seconds if "env.reset" in phases else 0.0)
    if elsewhere > 0.1 * seconds:
        return None
    turns = envs_in_turn(recording, report)
    envs = max(round(turns[0]), 1) if turns is not None else 1
    return _Stepping(
        seconds=seconds,
        share=seconds / training,
        env_step_seconds=seconds / env_steps,
        envs=envs,
        at_once=_at_once(recording, use, envs),
    )


def _at_once(recording: Recording, use: CoreUse, envs: int) -> float:
    """One environment can become many, as far as cores go; those that wait and do not compute need no core."""
    computed = cpu_seconds_of(recording.main) or 0.0
    ready = computed / use.seconds + (use.main_wait_share or 0.0)
    if ready < COMPUTING and envs > 1:
        return float(envs)
    return min(use.cores, float(envs)) if envs > 1 else use.cores


def _evidence(use: CoreUse, stepping: _Stepping) -> dict[str, object]:
    return {
        "phases": ["env.step", "env.reset"],
        "env_seconds": stepping.seconds,
        "env_share": stepping.share,
        "env_step_seconds": stepping.env_step_seconds,
        "environments": stepping.envs,
        "cores": use.cores,
        "cores_used": use.own,
        "cores_used_by_others": use.others,
        "at_once": stepping.at_once,
    }


def _cure(stepping: _Stepping, use: CoreUse) -> str:
    processes = (
        "step them in processes of their own: gymnasium.vector.AsyncVectorEnv in place of SyncVectorEnv, "
        "SubprocVecEnv in place of DummyVecEnv (make_vec_env(..., vec_env_cls=SubprocVecEnv)), with the start of the "
        'program under `if __name__ == "__main__":`'
    )
    taken = f". Others kept {three_digits(use.others or 0.0)} cores busy during this run: it pays once they are free"
    if stepping.envs > 1:
        several = f"{processes}; about {use.cores:g} workers, several environments in each where there are more"
        return several + (taken if _taken(use) else "")
    return (
        f"collect from {use.cores:g} environments at once and {processes}. More environments per update change what "
        "is learned: shorten each one's rollout to keep the batch as it is"
    )
