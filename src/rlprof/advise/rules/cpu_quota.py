"""`cpu-quota`: more threads are at work than a control group's quota has cores for, and it keeps stopping them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.step_lines import places_of_workers
from rlprof.analyse.core_use import CoreUse, core_use_of, threads_at_work_of
from rlprof.model.recording import Recording
from rlprof.model.report import Finding, Report
from rlprof.model.units import format_duration, format_percent

RULE: Final = "cpu-quota"
#: Of the run's time, summed over cores, that the quota took.
SMALLEST_SHARE: Final = 0.05
#: Most systems give a quota out anew ten times a second: a period holds a thread up for no longer than this.
PERIOD_SECONDS: Final = 0.1


def cpu_quota(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks where a quota was seen to stop the run, and the run has more threads at work than it allows."""
    use = core_use_of(recording)
    if use is None or use.quota is None or (use.throttled_seconds or 0.0) <= SMALLEST_SHARE * use.seconds:
        return
    threads = sum(threads_at_work_of(process) or 1 for process in recording.processes)
    if threads <= use.quota:
        return  # others in the same group used it up
    held_up = _held_up(use, use.quota, min(threads, report.run.cores or threads))
    yield from Claim(
        RULE,
        f"{threads} threads at work share a quota of {use.quota:g} cores, which stopped them for "
        f"{format_duration(held_up)} ({format_percent(min(held_up / use.seconds, 1.0))} of the run)",
        Saving(0.0, min(held_up, training_seconds(report))),
        places_of_workers(report),
        _cure(use.quota, report.run.cores),
        {
            "phases": [],
            "quota_cores": use.quota,
            "machine_cores": report.run.cores,
            "threads_at_work": threads,
            "processes": len(recording.processes),
            "throttled_seconds": use.throttled_seconds,
            "throttled_periods": use.throttled_periods,
            "seconds": use.seconds,
        },
    ).findings(report)


def _held_up(use: CoreUse, quota: float, at_once: int) -> float:
    """How long the main thread can have been stopped: the group's time is a sum over cores.

    So many threads at once need this long to use up the quota of a period. Then they are stopped for the rest of it.
    """
    running = min(quota / at_once, 1.0)
    seconds = min(use.throttled_seconds or 0.0, (1.0 - running) * use.seconds)
    return min(seconds, use.throttled_periods * PERIOD_SECONDS) if use.throttled_periods is not None else seconds


def _cure(quota: float, cores: int | None) -> str:
    whole = max(int(quota), 1)
    count = f"os.cpu_count() says {cores}" if cores is not None else "os.cpu_count() says more"
    return (
        f"size the run to {quota:g} cores and not to those of the machine ({count}): at most {whole} workers, "
        f'`torch.set_num_threads({whole})`, `os.environ["OMP_NUM_THREADS"] = "{whole}"` before NumPy or torch is '
        "imported; or ask for a larger quota (`docker run --cpus`, `resources.limits.cpu`, `--cpus-per-task`)"
    )
