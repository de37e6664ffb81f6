"""A hundred million spans in one process: does memory stay flat, and is every span accounted for?

The program runs under `rlprof run`; its resident memory is read from outside once a second. Then the spans that it
says it made are compared with those in the recording and those the recording says were dropped.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from commands import ALWAYS_ACTIVE, run_command
from measure import HERE, CannotMeasure, Result, Table, argument_parser, finish, new_result, run_script, say

MB = 1 << 20
#: The minute in which pages, caches and buffers may still fill up. A shorter run is shown from its first quarter on.
SETTLING_SECONDS = 60.0


@dataclass(frozen=True)
class Scenario:
    name: str
    threads: int
    spans: int
    seconds: float
    options: tuple[str, ...] = ()
    logs_events: bool = False


@dataclass(frozen=True)
class Outcome:
    scenario: Scenario
    emitted: int
    seconds: float
    growth_bytes: int
    settled_after: float
    peak_bytes: int
    written: int
    dropped: int
    events_emitted: int
    events_written: int
    events_dropped: int
    file_bytes: int
    rss_bytes: list[tuple[float, int]]


class MemoryWatch:
    """Reads another process's resident size once a second until it ends."""

    def __init__(self, pid: int) -> None:
        import psutil

        self._process = psutil.Process(pid)
        self._gone = psutil.Error
        self._stop = threading.Event()
        self._started = monotonic()
        self.samples: list[tuple[float, int]] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(1.0 if self.samples else 0.0):
            try:
                self.samples.append((monotonic() - self._started, self._process.memory_info().rss))
            except self._gone:
                return

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def is_long(seconds: float) -> bool:
    """Whether a run goes far enough beyond the first minute to be judged by what comes after it."""
    return seconds >= 1.3 * SETTLING_SECONDS


def growth(samples: list[tuple[float, int]], seconds: float) -> tuple[int, float]:
    """How far memory rose above its level after the settling time, and when that was."""
    settled = SETTLING_SECONDS if is_long(seconds) else seconds / 4
    # What the process does after its loop (the report's imports, the merge) is not the recorder's growth.
    during = [(at, rss) for at, rss in samples if at <= seconds]
    later = [rss for at, rss in during if at >= settled]
    if len(later) < 2:
        raise CannotMeasure("the run was too short to see memory grow: give more --spans")
    return max(max(later) - later[0], 0), settled


def run_scenario(scenario: Scenario, directory: Path) -> Outcome:
    say(f"{scenario.name}: {scenario.spans:,} spans ...")
    recording = directory / f"{scenario.threads}-{'events' if scenario.logs_events else 'sums'}.rlprof"
    program = [str(HERE / "programs" / "many_spans.py"), "--spans", str(scenario.spans)]
    program += ["--threads", str(scenario.threads), "--seconds", str(scenario.seconds)]
    process = subprocess.Popen(
        run_command(recording, program, scenario.options), stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )
    told = _read_program(process)
    growth_bytes, settled = growth(told["samples"], told["seconds"])
    return Outcome(
        scenario=scenario,
        emitted=told["emitted"],
        seconds=told["seconds"],
        growth_bytes=growth_bytes,
        settled_after=settled,
        peak_bytes=max(rss for _, rss in told["samples"]),
        file_bytes=recording.stat().st_size,
        rss_bytes=told["samples"],
        **_read_recording(recording),
    )


def _read_program(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What the program says of itself, and the memory it was seen to have meanwhile."""
    assert process.stdout is not None
    told: dict[str, Any] = {}
    watch: MemoryWatch | None = None
    for line in process.stdout:
        if line.startswith("{"):
            told.update(json.loads(line))
            if watch is None and "pid" in told:
                watch = MemoryWatch(told["pid"])
    if watch is not None:
        watch.stop()
        told["samples"] = watch.samples
    if process.wait() != 0 or "emitted" not in told:
        raise CannotMeasure(f"the recorded program ended with exit code {process.returncode}")
    return told


def _read_recording(recording: Path) -> dict[str, int]:
    from rlprof.recording import open_recording

    main = open_recording(recording).main
    spans = [path for path in main.paths.values() if path.parent is not None]
    return {
        "written": sum(main.stats[path.id].count for path in spans if path.id in main.stats and is_ours(path.name)),
        "dropped": main.losses.get("spans_dropped", 0),
        "events_emitted": main.tally.get("events_emitted", 0),
        "events_written": events_in(recording),
        "events_dropped": main.losses.get("events_dropped", 0),
    }


def events_in(recording: Path) -> int:
    """Counted in the file: tens of millions of them would not be loaded for the sake of their number."""
    with closing(sqlite3.connect(f"{recording.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        (rows,) = connection.execute("SELECT sum(rows) FROM chunks WHERE kind = 'events'").fetchone()
    return int(rows or 0)


def is_ours(name: str) -> bool:
    """The spans that the program counts: an `iteration` is a span too, but not one of these."""
    return name in ("rollout", "steps") or name.startswith("operation_")


def fill(result: Result, outcomes: list[Outcome]) -> None:
    rows = []
    for one in outcomes:
        check_growth(result, one)
        account = f"{one.emitted:,} = {one.written:,} + {one.dropped:,}"
        result.check_true(
            f"emitted = written + dropped, {one.scenario.name}",
            "exact",
            account,
            one.emitted == one.written + one.dropped,
        )
        rate = one.emitted / one.seconds / 1e6
        rows.append(
            (
                one.scenario.name,
                f"{one.emitted / 1e6:.1f} M",
                f"{one.seconds:.0f} s",
                f"{rate:.2f} M/s",
                f"{one.settled_after:.0f} s",
                f"{one.growth_bytes / MB:.1f} MB",
                f"{one.peak_bytes / MB:.0f} MB",
                f"{one.file_bytes / MB:.1f} MB",
            )
        )
    columns = ("scenario", "spans", "took", "rate", "growth from", "RSS growth", "RSS peak", "recording")
    result.tables.append(Table("Spans as fast as the program can make them", columns, rows))
    result.data = {"outcomes": [{**vars(one), "scenario": vars(one.scenario)} for one in outcomes]}


def check_growth(result: Result, one: Outcome) -> None:
    what = f"RSS growth after the first minute, {one.scenario.name}"
    if not is_long(one.seconds):
        result.check_missing(what, "<= 16 MB", f"the run lasted {one.seconds:.0f} s")
        return
    result.check_at_most(what, one.growth_bytes / MB, 16, " MB")


def check_events(result: Result, outcome: Outcome) -> None:
    """Logged one by one, every span is an event that was written or one that was dropped."""
    account = f"{outcome.events_emitted:,} = {outcome.events_written:,} + {outcome.events_dropped:,}"
    # The span of each iteration is logged too, so there are more events than spans that the program counted.
    whole = outcome.events_emitted >= outcome.emitted
    exact = outcome.events_emitted == outcome.events_written + outcome.events_dropped
    result.check_true("events emitted = written + dropped", "exact", account, whole and exact)


def scenarios(args: argparse.Namespace) -> list[Scenario]:
    spans = args.spans or (5_000_000 if args.quick else 100_000_000)
    seconds = args.seconds if args.seconds is not None else (16.0 if args.quick else 120.0)
    return [
        Scenario("1 thread", 1, spans, seconds),
        Scenario("8 threads", 8, spans, seconds),
        Scenario(
            "1 thread, every event",
            1,
            spans // 5,
            seconds * 0.7,
            ("--schedule", ALWAYS_ACTIVE),
            logs_events=True,
        ),
    ]


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--spans", type=int, help="at least so many spans in a process (100 million; quick: 5 million)")
    parser.add_argument("--seconds", type=float, help="and at least so long, past the first minute (120; quick: 16)")
    args = parser.parse_args()
    result = new_result("Many spans", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as directory:
        outcomes = [run_scenario(scenario, Path(directory)) for scenario in scenarios(args)]
    fill(result, outcomes)
    check_events(result, outcomes[-1])
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
