"""How much disk a recording takes: bytes per hour of training by default, and bytes per span when all are logged.

examples/cartpole_ppo.py trains under `rlprof run`. A part of the file is there once (environment, slowest iterations,
most places in the code that the sampler sees); another grows with time. The hour is the file as it is, and the growth
of the rest of the hour at the rate that was seen. Then the training is recorded with every event, and traced by
torch.profiler and by VizTracer.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from commands import ALWAYS_ACTIVE, checked, read_report, run_command, told_seconds
from measure import (
    HERE,
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    finish,
    new_result,
    run_script,
    say,
)

from rlprof.recording.place import PART_SUFFIX, parts_of

MB = 1_000_000
FRAME_NUMBERS = 24  # bytes of a row of frames beside its text, generously
PPO = str(HERE / "programs" / "ppo.py")
PEERS = {"torch.profiler JSON": "--torch-trace", "VizTracer JSON": "--viztracer"}
COMPLETE_EVENT = re.compile(rb'"ph": ?"X"')


@dataclass(frozen=True)
class Trace:
    """A file with single events in it, of so much training."""

    name: str
    size: int
    events: int
    seconds: float

    @property
    def per_event(self) -> float:
        return self.size / self.events

    @property
    def per_hour(self) -> float:
        return self.size / self.seconds * 3600


def iterations_for(seconds: float) -> int:
    trial = told_seconds(checked([sys.executable, PPO, "--iterations", "5"]).stdout) / 5
    return max(5, round(seconds / trial))


def record(recording: Path, iterations: int, options: tuple[str, ...] = ()) -> float:
    """Seconds of training that the recording holds."""
    return told_seconds(checked(run_command(recording, [PPO, "--iterations", str(iterations)], options)).stdout)


def frame_bytes(file: Path) -> int:
    """What the places in the code take that the sampler has seen so far."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        text, rows = connection.execute("SELECT sum(length(function) + length(file)), count(*) FROM frames").fetchone()
    return int(text or 0) + FRAME_NUMBERS * int(rows)


def chunk_bytes(recording: Path) -> int:
    with closing(sqlite3.connect(f"{recording.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        (size,) = connection.execute("SELECT sum(length(data)) FROM chunks").fetchone()
    return int(size)


def record_watched(recording: Path, iterations: int, look_after: float) -> tuple[float, int]:
    """Record, and look into the unfinished recording once on the way: when that was, and its bytes of frames."""
    process = subprocess.Popen(
        run_command(recording, [PPO, "--iterations", str(iterations)]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = monotonic()
    try:
        process.wait(look_after)
        raise CannotMeasure("the program ended sooner than expected: give more --seconds")
    except subprocess.TimeoutExpired:
        seen = (monotonic() - started, sum(map(frame_bytes, parts_of(recording).glob(f"*{PART_SUFFIX}"))))
    if process.wait() != 0:
        raise CannotMeasure(f"the recorded program ended with exit code {process.returncode}")
    return seen


def default_rate(result: Result, directory: Path, seconds: float) -> None:
    """The file after some time, and what is added to it for each further second up to an hour."""
    say(f"default recording, about {seconds:.0f} s ...")
    recording = directory / "default.rlprof"
    at, frames_then = record_watched(recording, iterations_for(seconds), seconds / 2)
    wall = float(read_report(recording)["run"]["wall_seconds"])
    size = recording.stat().st_size
    chunks = chunk_bytes(recording) / wall
    frames = max(frame_bytes(recording) - frames_then, 0) / max(wall - at, 1.0)
    hourly = size + (chunks + frames) * (3600 - wall)
    rows = [
        (f"file after {wall:.0f} s", f"{size / MB:.2f} MB"),
        ("and per second: windows, counters, memory, samples", f"{chunks / 1000:.2f} kB"),
        ("and per second: new places in the code, second half", f"{frames / 1000:.2f} kB"),
        ("an hour", f"{hourly / MB:.1f} MB"),
        ("an hour, were all of the file to grow in proportion", f"{size / wall * 3600 / MB:.1f} MB"),
    ]
    result.tables.append(Table("CartPole PPO, recorded with the defaults", ("what", "size"), rows))
    result.check_at_most("disk per hour of training, by default", hourly / MB, 40, " MB")
    result.data["default"] = {"wall_seconds": wall, "bytes": size, "bytes_per_hour": hourly}


def event_trace(directory: Path, iterations: int) -> Trace:
    """The events alone, in whole pages of the file, with nothing else that the recording holds."""
    say("every event ...")
    recording = directory / "every.rlprof"
    seconds = record(recording, iterations, ("--schedule", ALWAYS_ACTIVE))
    with closing(sqlite3.connect(f"{recording.as_uri()}?mode=ro", uri=True)) as connection:
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        chunks = connection.execute("SELECT rows, length(data) FROM chunks WHERE kind = 'events'").fetchall()
    if not chunks:
        raise CannotMeasure("no event was recorded although every iteration was to be logged")
    size = sum(-(-length // page) * page for _, length in chunks)
    return Trace("rlprof, every span", size, sum(rows for rows, _ in chunks), seconds)


def count_events(file: Path) -> int:
    """Complete events in a Chrome trace, counted piece by piece: such files do not fit into memory."""
    events, tail = 0, b""
    with file.open("rb") as stream:
        while piece := stream.read(1 << 24):
            text = tail + piece
            events += len(COMPLETE_EVENT.findall(text))
            # A mark that the end of a piece cuts in two is found in the next; a whole one is not counted again.
            tail = text[-8:] if not COMPLETE_EVENT.search(text[-8:]) else b""
    return events


def peer_trace(name: str, option: str, directory: Path, iterations: int) -> Trace:
    """The same training under a tracer, started after the imports, as JSON."""
    say(f"{name} ...")
    file = directory / "trace.json"
    done = checked([sys.executable, PPO, "--iterations", str(iterations), option, str(file)])
    trace = Trace(name, file.stat().st_size, count_events(file), told_seconds(done.stdout))
    file.unlink()
    return trace


def compare_traces(result: Result, directory: Path, iterations: int, peer_iterations: int) -> None:
    ours = event_trace(directory, iterations)
    result.check_at_most("events, bytes per span", ours.per_event, 12, " bytes")
    traces = [ours]
    for name, option in PEERS.items():
        try:
            traces.append(peer_trace(name, option, directory, peer_iterations))
        except CannotMeasure as reason:
            result.notes.append(f"{name} not measured: {reason}")
    rows = [
        (
            trace.name,
            f"{trace.events:,}",
            f"{trace.size / MB:.2f} MB",
            f"{trace.per_event:.1f}",
            f"{trace.per_event / ours.per_event:.1f}x",
            f"{trace.per_hour / MB:,.0f} MB",
        )
        for trace in traces
    ]
    columns = ("trace", "events", "size", "bytes/event", "of rlprof's", "per hour of training")
    result.tables.append(Table("Every single event", columns, rows))
    result.notes.append(
        "The traces log different things (spans; torch operators; every Python call), so bytes per event is the ratio "
        "to look at; bytes per hour says what leaving each of them on would take."
    )
    result.data["traces"] = [vars(trace) for trace in traces]


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--seconds", type=float, help="how long to record with the defaults (60; quick: 10)")
    args = parser.parse_args()
    result = new_result("Disk", args)
    with tempfile.TemporaryDirectory(prefix="rlprof-bench-") as name:
        directory = Path(name)
        default_rate(result, directory, args.seconds or (10.0 if args.quick else 60.0))
        iterations, peer_iterations = (20, 2) if args.quick else (100, 10)
        compare_traces(result, directory, iterations, peer_iterations)
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
