"""The demo `snake`: how long a long run takes, projected from short runs and held against a real one.

Both forms are run: with every cure 5,000 episodes, and as it is, which takes twenty times as long for each, 1,000. A
projection is for training alone, so that the start-up of the long run is not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import (
    CannotMeasure,
    Table,
    argument_parser,
    facts_line,
    finish,
    markdown_table,
    new_result,
    run_script,
    say,
)
from run_all import put_into

from rlprof.analyse.course import course_of
from rlprof.analyse.growth import growing_parts
from rlprof.analyse.projection import project_episodes
from rlprof.analyse.report import build_report
from rlprof.analyse.throughput import EPISODES, counter_total
from rlprof.model.recording import Recording
from rlprof.model.units import format_count, format_duration
from rlprof.recording import open_recording


@dataclass(frozen=True)
class Form:
    """What is added to the command, and of how many episodes the recordings are."""

    words: tuple[str, ...]
    short: tuple[int, ...]
    long: int


FORMS = {
    "with every cure": Form(
        ("--flood-fill", "vectorised", "--train-steps", "4", "--push", "batched", "--log", "none"), (300, 1000), 5000
    ),
    "as it is": Form((), (100, 300), 1000),
}


def record(episodes: int, form: str, directory: Path) -> Path:
    """A recording of so many episodes; one that is there already is taken as it is."""
    target = directory / form.replace(" ", "-") / f"snake-{episodes}.rlprof"
    if not target.exists():
        say(f"{episodes} episodes {form} ...")
        target.parent.mkdir(parents=True, exist_ok=True)
        words = ["-m", "rlprof", "run", "--quiet", "--no-html", "--out", str(target), "-m", "rlprof.demos.snake"]
        done = subprocess.run(
            [sys.executable, *words, "--episodes", str(episodes), *FORMS[form].words],
            cwd=target.parent,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            raise CannotMeasure(f"the training of {episodes} episodes {form} ended with {done.returncode}")
    return target


def say_projection(recorded: Path, episodes: int) -> str:
    """What `rlprof project` prints."""
    command = [sys.executable, "-m", "rlprof", "project", str(recorded), "--episodes", str(episodes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return f"$ rlprof project {recorded.name} --episodes {episodes}\n{done.stdout.rstrip()}"


def trained(recording: Recording) -> float:
    """Seconds of a run without its start-up."""
    ledger = build_report(recording).ledger
    return ledger.wall_seconds - (ledger.startup_seconds or 0.0)


def row(recorded: Path, long: Recording) -> tuple[str, ...]:
    opened = open_recording(recorded)
    pace = course_of(opened).pace
    played = counter_total(long, EPISODES) or 0.0
    found = project_episodes(pace, growing_parts(pace), played) if pace is not None else None
    if found is None:
        raise CannotMeasure(f"{recorded.name} is too short to project from")
    real = trained(long)
    inside = "yes" if found.low <= real <= found.high else "no"
    return (
        f"{format_count(counter_total(opened, EPISODES) or 0)} in {format_duration(trained(opened))}",
        format_duration(found.linear_seconds),
        f"{format_duration(found.seconds)} [{format_duration(found.low)}, {format_duration(found.high)}]",
        format_duration(real),
        f"{real / found.linear_seconds:.2f}",
        f"{real / found.seconds:.2f}",
        inside,
    )


def projected(form: str, directory: Path, times_less: int) -> tuple[Table, str]:
    """The short recordings of one form against its long run, and what `rlprof project` says of them."""
    longest = FORMS[form].long // times_less
    short = [record(episodes, form, directory) for episodes in FORMS[form].short if episodes < longest]
    long = open_recording(record(longest, form, directory))
    said = "\n".join(say_projection(recorded, longest) for recorded in short)
    columns = ("recorded", "linear", "projected", "real", "real / linear", "real / projected", "inside")
    title = f"{longest:,} episodes of snake {form}, start-up aside"
    return Table(title, columns, [row(recorded, long) for recorded in short]), said


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep recordings there, and take those that are there")
    parser.add_argument("--docs", type=Path, help="put the result between the marks of this page")
    parser.add_argument("--form", choices=sorted(FORMS), action="append", help="only this one")
    args = parser.parse_args()
    result = new_result("Snake, projected", args)
    shown = []
    with tempfile.TemporaryDirectory(prefix="rlprof-project-") as scratch:
        for form in args.form or FORMS:
            table, said = projected(form, (args.out or Path(scratch)).resolve(), 5 if args.quick else 1)
            result.tables.append(table)
            shown.append(f"```text\n{said}\n```\n\n{markdown_table(table)}")
    if args.docs:
        put_into(args.docs, "\n\n".join((f"Measured on: {facts_line(result.machine)}.", *shown)))
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
