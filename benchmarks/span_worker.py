"""Runs one profiler's spans in a process of its own and times batches of them when told to.

Started by span_cost.py with the name of a subject, in whatever environment that subject needs. Speaks JSON lines:
first it says what it can run, then for each `{"case": name, "loops": n}` it answers `{"ns": total}`. Imports nothing
but the standard library and the subject.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from time import perf_counter_ns
from typing import Any


def nothing() -> None:
    pass


@dataclass
class Case:
    """A statement to repeat, the names it uses, and what must happen around a batch of it, outside the timing."""

    statement: str
    names: dict[str, Any]
    less: str = "empty"  # the case whose time is no part of the cost: the bare loop, or the bare call
    before: Callable[[], None] = nothing
    after: Callable[[], None] = nothing


@dataclass
class Subject:
    version: str | None
    cases: dict[str, Case]
    note: str = ""
    close: Callable[[], None] = field(default=nothing)


def compile_loop(case: Case) -> Callable[[int], int]:
    """The statement inside a loop, with its names global to it, as an `import` at a program's top makes them."""
    body = "\n        ".join(case.statement.splitlines())
    source = f"""
def loop(n):
    start = perf_counter_ns()
    for _ in repeat(None, n):
        {body}
    return perf_counter_ns() - start
"""
    names: dict[str, Any] = {"perf_counter_ns": perf_counter_ns, **case.names}
    exec("from itertools import repeat\n" + source, names)
    loop: Callable[[int], int] = names["loop"]
    return loop


def baseline() -> dict[str, Case]:
    """What every subject is measured against, in its own process."""
    return {
        "empty": Case("pass", {}),
        "clock": Case("perf_counter_ns(); perf_counter_ns()", {}),
        "call": Case("function()", {"function": nothing}),
    }


# ---------------------------------------------------------------------------------------------- rlprof


def rlprof_cases() -> dict[str, Case]:
    import rlprof

    @rlprof.profile_function("act")
    def decorated() -> None:
        pass

    names = {name: getattr(rlprof, name) for name in ("profile", "count", "iteration")}
    return {
        "span": Case('with profile("env_step"):\n    pass', names),
        "span, phase=": Case('with profile("env_step", phase="env.step"):\n    pass', names),
        "span inside a span": Case(
            'with profile("rollout"):\n    with profile("env_step", phase="env.step"):\n        pass', names
        ),
        "decorated function": Case("function()", {"function": decorated}, less="call"),
        "count": Case('count("env_steps", 256)', names),
        "iteration()": Case("iteration()", names),
        "with iteration()": Case("with iteration():\n    pass", names),
    }


def rlprof_on() -> Subject:
    """Recording to a file with everything that is on by default: sampler, memory, writer."""
    from rlprof import get_profiler

    directory = tempfile.TemporaryDirectory(prefix="rlprof-bench-")
    profiler = get_profiler()
    profiler.start(Path(directory.name) / "spans.rlprof")

    def close() -> None:
        profiler.stop()
        directory.cleanup()

    return Subject(metadata.version("rlprof"), rlprof_cases(), "recording to a file, sampler and memory on", close)


def rlprof_off() -> Subject:
    """Imported and never started: what annotations cost a program that is not being profiled."""
    return Subject(metadata.version("rlprof"), rlprof_cases(), "never started")


def rlprof_disabled() -> Subject:
    """Started, then switched off by `disable()`."""
    from rlprof import get_profiler

    subject = rlprof_on()
    get_profiler().disable()
    subject.note = "started, then disable()"
    return subject


# ---------------------------------------------------------------------------------------------- peers


def mlagents() -> Subject:
    from mlagents_envs.timers import hierarchical_timer

    case = Case('with hierarchical_timer("env_step"):\n    pass', {"hierarchical_timer": hierarchical_timer})
    return Subject(metadata.version("mlagents-envs"), {"ML-Agents hierarchical_timer": case}, "sums per path")


def sample_factory() -> Subject:
    from sample_factory.utils.timing import Timing

    timing = Timing()
    cases = {
        "Sample-Factory Timing.add_time": Case('with timing.add_time("env_step"):\n    pass', {"timing": timing}),
        "Sample-Factory Timing.timeit": Case('with timing.timeit("act"):\n    pass', {"timing": timing}),
    }
    return Subject(metadata.version("sample-factory"), cases, "sums per path; keeps the last value (timeit)")


def torchrl() -> Subject:
    from torchrl import timeit

    case = Case('with timeit("env_step"):\n    pass', {"timeit": timeit})
    return Subject(metadata.version("torchrl"), {"TorchRL timeit": case}, "mean and sum per name")


def torch_idle() -> Subject:
    from torch.profiler import record_function

    case = Case('with record_function("env_step"):\n    pass', {"record_function": record_function})
    return Subject(metadata.version("torch"), {"torch record_function, no profiler": case}, "records nothing")


def torch_active() -> Subject:
    from torch.profiler import ProfilerActivity, profile, record_function

    running: list[Any] = []

    def before() -> None:
        # A fresh profiler for each batch, since it keeps every event in memory until it stops.
        running.append(profile(activities=[ProfilerActivity.CPU], acc_events=False))
        running[-1].start()

    def after() -> None:
        running.pop().stop()

    statement = 'with record_function("env_step"):\n    pass'
    case = Case(statement, {"record_function": record_function}, before=before, after=after)
    return Subject(metadata.version("torch"), {"torch record_function": case}, "logs every event in memory")


def nvtx() -> Subject:
    import nvtx as library

    cases = {
        "nvtx.annotate, no tool": Case('with annotate("env_step"):\n    pass', {"annotate": library.annotate}),
    }
    return Subject(metadata.version("nvtx"), cases, "records nothing: no Nsight tool is attached")


def opentelemetry_plain() -> Subject:
    from opentelemetry.sdk.trace import TracerProvider

    tracer = TracerProvider().get_tracer("bench")
    case = Case('with tracer.start_as_current_span("env_step"):\n    pass', {"tracer": tracer})
    return Subject(
        metadata.version("opentelemetry-sdk"),
        {"OpenTelemetry, no exporter": case},
        "makes the span, then lets it go",
    )


def opentelemetry_memory() -> Subject:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    statement = 'with tracer.start_as_current_span("env_step"):\n    pass'
    case = Case(statement, {"tracer": provider.get_tracer("bench")}, after=exporter.clear)
    return Subject(
        metadata.version("opentelemetry-sdk"),
        {"OpenTelemetry, in-memory exporter": case},
        "keeps every span in memory",
    )


def viztracer() -> Subject:
    from viztracer import VizTracer

    tracer = VizTracer(tracer_entries=200_000, verbose=0, log_sparse=True)

    def before() -> None:
        tracer.start()

    def after() -> None:
        tracer.stop()
        tracer.clear()

    case = Case('with tracer.log_event("env_step"):\n    pass', {"tracer": tracer}, before=before, after=after)
    return Subject(metadata.version("viztracer"), {"VizTracer log_event": case}, "logs every event in memory")


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "rlprof-on": rlprof_on,
    "rlprof-off": rlprof_off,
    "rlprof-disabled": rlprof_disabled,
    "mlagents": mlagents,
    "sample-factory": sample_factory,
    "torchrl": torchrl,
    "torch-active": torch_active,
    "torch-idle": torch_idle,
    "nvtx": nvtx,
    "opentelemetry-plain": opentelemetry_plain,
    "opentelemetry-memory": opentelemetry_memory,
    "viztracer": viztracer,
}


def serve(subject: Subject, answer: Callable[[dict[str, Any]], None]) -> None:
    cases = {**baseline(), **subject.cases}
    loops = {name: compile_loop(case) for name, case in cases.items()}
    answer(
        {
            "version": subject.version,
            "note": subject.note,
            "cases": {name: case.less for name, case in subject.cases.items()},
        }
    )
    for line in sys.stdin:
        order = json.loads(line)
        case = cases[order["case"]]
        case.before()
        elapsed = loops[order["case"]](order["loops"])
        case.after()
        answer({"ns": elapsed})
    subject.close()


def main() -> None:
    # Answers keep standard output to themselves; whatever a library prints goes to standard error.
    channel, sys.stdout = sys.stdout, sys.stderr

    def answer(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    try:
        subject = SUBJECTS[sys.argv[1]]()
    except ImportError as reason:
        answer({"missing": str(reason)})
        return
    serve(subject, answer)


if __name__ == "__main__":
    main()
