"""What a span costs, on and off, against two bare clock reads and against every peer, in one run.

Every profiler runs in a process of its own, where an empty loop and the pair of clock reads are timed too. Batches of
all of them take turns; a cost is the batch's time less the loop's, and "x clock" its ratio to the pair of clock reads
of the same round and process. All workers are started anew several times, since the layout of a process's memory
alone moves such figures by some percent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments import ENVIRONMENTS, environment_python
from measure import (
    DEFAULT_CACHE,
    HERE,
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    differences,
    finish,
    new_result,
    run_script,
    say,
)

from rlprof.experiments.pairs import interleave, ratios, spread

OURS = ("rlprof-on", "rlprof-off", "rlprof-disabled")
#: Peers that measure what they are given, and those that only call into a tool which is not there.
RECORDING_PEERS = (
    "mlagents",
    "sample-factory",
    "torchrl",
    "torch-active",
    "opentelemetry-plain",
    "opentelemetry-memory",
    "viztracer",
)
IDLE_PEERS = ("torch-idle", "nvtx")
BASELINE = ("empty", "clock", "call")

#: About this much time for one batch: long enough for the clock, short enough to take turns often.
BATCH_NS = 10_000_000
MOST_LOOPS = 100_000


class Worker:
    """A process that times batches of one subject's statements on demand."""

    def __init__(self, subject: str, python: Path) -> None:
        self.subject = subject
        self._process = subprocess.Popen(
            [str(python), str(HERE / "span_worker.py"), subject],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        hello = self._read()
        if "missing" in hello:
            self.close()
            raise CannotMeasure(hello["missing"])
        self.version: str = hello["version"]
        self.note: str = hello["note"]
        self.cases: dict[str, str] = hello["cases"]

    def time(self, case: str, loops: int) -> float:
        """Nanoseconds per loop over one batch."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"case": case, "loops": loops}) + "\n")
        self._process.stdin.flush()
        return float(self._read()["ns"]) / loops

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=60)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise CannotMeasure(f"the worker for {self.subject} ended early")
        message: dict[str, Any] = json.loads(line)
        return message


@dataclass
class Cost:
    """All rounds of one statement: its cost in ns and in pairs of clock reads."""

    subject: str
    version: str
    note: str
    ns: list[float] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)


@dataclass
class Costs:
    by_case: dict[tuple[str, str], Cost] = field(default_factory=dict)
    clock_ns: list[float] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def of(self, subject: str, case: str) -> Cost | None:
        return self.by_case.get((subject, case))

    def cases_of(self, subjects: tuple[str, ...]) -> list[tuple[str, Cost]]:
        return [(case, cost) for (subject, case), cost in self.by_case.items() if subject in subjects]


def start_workers(subjects: list[str], cache: Path, costs: Costs) -> list[Worker]:
    workers = []
    for subject in subjects:
        try:
            python = environment_python(subject, cache) if subject in ENVIRONMENTS else Path(sys.executable)
            workers.append(Worker(subject, python))
        except CannotMeasure as reason:
            costs.missing[subject] = str(reason)
    return workers


def suitable_loops(worker: Worker, case: str) -> int:
    """As many loops as fill a batch; the trial also warms the case up."""
    worker.time(case, 200)
    once = max(worker.time(case, 1000), 1.0)
    return max(1000, min(MOST_LOOPS, int(BATCH_NS / once)))


def measure_once(workers: list[Worker], rounds: int, costs: Costs) -> None:
    """Let all statements of all workers take turns, then add the rounds to the costs."""
    turns: dict[str, Callable[[], float]] = {}
    for worker in workers:
        for case in (*BASELINE, *worker.cases):
            loops = suitable_loops(worker, case)
            turns[f"{worker.subject}\n{case}"] = lambda w=worker, c=case, n=loops: w.time(c, n)  # type: ignore[misc]
    values = interleave(turns, rounds)
    for worker in workers:
        clock = differences(values[f"{worker.subject}\nclock"], values[f"{worker.subject}\nempty"])
        costs.clock_ns += clock
        for case, less in worker.cases.items():
            cost = costs.by_case.setdefault((worker.subject, case), Cost(worker.subject, worker.version, worker.note))
            net = differences(values[f"{worker.subject}\n{case}"], values[f"{worker.subject}\n{less}"])
            cost.ns += net
            cost.clocks += ratios(net, clock)


def measure_all(subjects: list[str], cache: Path, launches: int, rounds: int) -> Costs:
    costs = Costs()
    for launch in range(launches):
        say(f"launch {launch + 1} of {launches} ...")
        workers = start_workers(subjects, cache, costs)
        try:
            measure_once(workers, rounds, costs)
        finally:
            for worker in workers:
                worker.close()
    return costs


# ---------------------------------------------------------------------------------------------- telling


def own_table(costs: Costs) -> Table:
    rows = [
        (f"{case}, {cost.note}", spread(cost.ns).text(0, " ns"), spread(cost.clocks).text(2, "x"))
        for case, cost in costs.cases_of(OURS)
    ]
    clock = spread(costs.clock_ns)
    rows.insert(0, ("two bare perf_counter_ns() calls", clock.text(0, " ns"), "1.00x"))
    return Table("rlprof", ("enter + exit", "cost", "of two clock reads"), rows)


def peer_table(costs: Costs, ours: Cost) -> Table:
    peers = sorted(costs.cases_of(RECORDING_PEERS + IDLE_PEERS), key=lambda peer: spread(peer[1].ns).median)
    rows = []
    for case, cost in peers:
        times = spread(ratios(cost.clocks, ours.clocks))
        rows.append((f"{case} {cost.version}", cost.note, spread(cost.ns).text(0, " ns"), times.text(1, "x")))
    rows += [(subject, f"not measured: {why}", "-", "-") for subject, why in costs.missing.items()]
    return Table("Peers", ("enter + exit", "what it keeps", "cost", "of rlprof's span"), rows)


def cheapest(costs: Costs, subjects: tuple[str, ...]) -> tuple[str, Cost] | None:
    peers = costs.cases_of(subjects)
    return min(peers, key=lambda peer: spread(peer[1].clocks).median) if peers else None


def check_own(result: Result, costs: Costs) -> None:
    for case in ("span", "span, phase="):
        on = costs.of("rlprof-on", case)
        result.check_at_most(f"{case}, on, of two clock reads", spread(on.clocks) if on else None, 2, "x")
    for subject, state in (("rlprof-off", "off"), ("rlprof-disabled", "disable()")):
        for case in ("span", "span, phase="):
            off = costs.of(subject, case)
            result.check_at_most(f"{case}, {state}", spread(off.ns) if off else None, 60, " ns")


def check_peers(result: Result, costs: Costs, ours: Cost) -> None:
    for subjects, label in (
        (RECORDING_PEERS, "cheapest peer that records"),
        (RECORDING_PEERS + IDLE_PEERS, "cheapest peer, even if it records nothing"),
    ):
        peer = cheapest(costs, subjects)
        if peer is None:
            result.check_missing(f"span, of the {label}", "<= 0.25x", "no peer ran")
            continue
        name, cost = peer
        result.check_at_most(f"span, of the {label} ({name})", spread(ratios(ours.clocks, cost.clocks)), 0.25, "x")
    for subject, why in costs.missing.items():
        if subject in RECORDING_PEERS + IDLE_PEERS:
            result.check_missing(f"span, of {subject}", "<= 0.25x", why)


def as_data(costs: Costs) -> dict[str, Any]:
    rows = [
        {
            "subject": subject,
            "case": case,
            "version": cost.version,
            "ns": vars(spread(cost.ns)),
            "clocks": vars(spread(cost.clocks)),
        }
        for (subject, case), cost in costs.by_case.items()
    ]
    return {"costs": rows, "clock_pair_ns": vars(spread(costs.clock_ns)), "missing": costs.missing}


def report(args: argparse.Namespace, costs: Costs) -> Result:
    result = new_result("Cost of a span", args)
    ours = costs.of("rlprof-on", "span")
    if ours is None:
        raise CannotMeasure(f"rlprof did not run: {costs.missing.get('rlprof-on', 'no reason given')}")
    result.tables = [own_table(costs), peer_table(costs, ours)]
    check_own(result, costs)
    check_peers(result, costs, ours)
    result.notes.append(
        "The span inside a span is two spans. A decorated function is less a call of the same function undecorated."
    )
    result.data = as_data(costs)
    return result


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where peers' environments are kept")
    parser.add_argument("--rounds", type=int, help="rounds for each launch of the workers (15; quick: 5)")
    parser.add_argument("--launches", type=int, help="how often all workers are started anew (4; quick: 1)")
    parser.add_argument("--no-peers", action="store_true", help="rlprof and the clock alone")
    args = parser.parse_args()
    subjects = list(OURS if args.no_peers else OURS + RECORDING_PEERS + IDLE_PEERS)
    rounds = args.rounds or (5 if args.quick else 15)
    launches = args.launches or (1 if args.quick else 4)
    return finish(report(args, measure_all(subjects, args.cache, launches, rounds)), args)


if __name__ == "__main__":
    run_script(main)
