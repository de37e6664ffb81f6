"""A run in the text form that Prometheus reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, get_args

from rlprof.analyse.course_so_far import CourseSoFar
from rlprof.model.clean import clean_text
from rlprof.model.phases import OVERHEAD, UNATTRIBUTED, category_of
from rlprof.model.recording import Status
from rlprof.model.report import Report
from rlprof.model.units import BYTES_PER_MB

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One number, with labels where there are several of a kind."""

    value: float | None
    labels: tuple[tuple[str, str], ...] = ()


class Metric(NamedTuple):
    """A kind of number, all of whose samples stand together."""

    name: str
    kind: str
    help: str
    samples: tuple[Sample, ...]


class PrometheusText:
    """Remembers how far each counter was: our estimates of time may sink a little, and a counter must not."""

    def __init__(self) -> None:
        self._highest: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}

    def of(self, report: Report, course: CourseSoFar) -> str:
        """All metrics; what is unknown is left out."""
        return "".join(line for metric in metrics(report, course) for line in self._lines(metric))

    def _lines(self, metric: Metric) -> Iterator[str]:
        known = [sample for sample in metric.samples if sample.value is not None and math.isfinite(sample.value)]
        if not known:
            return
        yield f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
        for sample in known:
            value = sample.value or 0.0
            if metric.kind == "counter":
                key = (metric.name, sample.labels)
                value = self._highest[key] = max(value, self._highest.get(key, 0.0))
            yield f"{metric.name}{_labels(sample.labels)} {value!r}\n"


def _labels(labels: Sequence[tuple[str, str]]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return clean_text(value).replace("\\", "\\\\").replace('"', '\\"')


def metrics(report: Report, course: CourseSoFar) -> tuple[Metric, ...]:
    """What a run can be watched by."""
    throughput, memory = report.throughput, report.memory
    return (
        _one("rlprof_env_steps_total", "counter", "Env steps since the start.", throughput.env_steps),
        _one("rlprof_env_steps_per_second", "gauge", "Env steps per second in the last 10 s.", course.sps_now),
        _one("rlprof_episodes_total", "counter", "Episodes since the start.", throughput.episodes),
        _one("rlprof_updates_total", "counter", "Gradient updates since the start.", throughput.updates),
        _one("rlprof_iterations_total", "counter", "Turns of the training loop.", throughput.iterations),
        _one("rlprof_wall_seconds_total", "counter", "Wall clock of the main process.", report.ledger.wall_seconds),
        Metric("rlprof_phase_seconds_total", "counter", "Seconds by phase; together the wall clock.", _phases(report)),
        _one(
            "rlprof_resident_memory_bytes", "gauge", "Resident memory of the main process.", _bytes(course.rss_now_mb)
        ),
        _one("rlprof_resident_memory_peak_bytes", "gauge", "The highest so far.", _bytes(memory.rss_peak_mb)),
        _one("rlprof_device_memory_peak_bytes", "gauge", "Device memory, the highest.", _bytes(memory.gpu_peak_mb)),
        Metric("rlprof_run_status", "gauge", "1 for what the run is, 0 for what it is not.", _status(report)),
    )


def _one(name: str, kind: str, text: str, value: float | None) -> Metric:
    return Metric(name, kind, text, (Sample(None if value is None else float(value)),))


def _bytes(megabytes: float | None) -> float | None:
    return None if megabytes is None else megabytes * BYTES_PER_MB


def _phases(report: Report) -> tuple[Sample, ...]:
    ledger = report.ledger
    seconds = [(entry.phase, entry.seconds) for entry in report.phases]
    seconds += [(UNATTRIBUTED, ledger.unattributed_seconds), (OVERHEAD, ledger.overhead_seconds)]
    return tuple(Sample(took, (("phase", phase), ("category", category_of(phase)))) for phase, took in seconds)


def _status(report: Report) -> tuple[Sample, ...]:
    return tuple(Sample(float(status == report.run.status), (("status", status),)) for status in get_args(Status))
