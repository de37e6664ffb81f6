"""`rlprof run`: record a training program without changing it."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlprof.cli.project import find_settings, read_expectations
from rlprof.cli.supervise import Watch, end_like, supervise
from rlprof.cli.watch import SummaryWatch
from rlprof.cli.window_files import fold_in, make_room, say_what_windows_left
from rlprof.model.errors import BadOption, EmptyRecording, RlprofError
from rlprof.model.expectations import Expectation
from rlprof.model.recording import Recording, Status
from rlprof.model.report import Report
from rlprof.record.children import TREATMENTS_VARIABLE, Inheritance, environment_for
from rlprof.record.options import DEFAULT_TRACE, Detailed, Options, Schedule, TorchTrace, parse_share
from rlprof.record.secrets import mask_arguments
from rlprof.record.targets import parse_span
from rlprof.recording import open_recording
from rlprof.recording.discard import discard
from rlprof.recording.merge import merge
from rlprof.recording.place import RUNS_DIRECTORY, claim, default_target, named, parts_of
from rlprof.recording.runfile import Run, write_run

if TYPE_CHECKING:  # these bring the whole of analysis along, which a plain run needs at its end only
    from rlprof.cli.companions import Companion


class _RunCommand(click.Command):
    """Leaves alone what is behind the program's name: `-m MODULE` ends rlprof's own options as a script does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        behind = self._behind_module(args)
        if behind is not None:
            args = [*args[:behind], "--", *args[behind:]]
        return super().parse_args(ctx, args)

    def _behind_module(self, args: list[str]) -> int | None:
        """Where the words behind `-m MODULE` begin; None where a script is named or nothing is."""
        takes_value = {
            name for option in self.params if isinstance(option, click.Option) and not option.is_flag
            for name in (*option.opts, *option.secondary_opts)
        }  # fmt: skip
        at = 0
        while at < len(args) and args[at].startswith("-") and args[at] != "--":
            if args[at].startswith("-m"):
                return at + (2 if args[at] == "-m" else 1)
            at += 2 if args[at] in takes_value else 1
        return None


@click.command(cls=_RunCommand, context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m MODULE` does.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help=f"Recording to write [{RUNS_DIRECTORY}/NAME-DATE].")
@click.option("--overwrite", is_flag=True, help="Replace the recording named by --out.")
@click.option("--memory/--no-memory", default=True, help="Sample resident memory, and device memory if any [on].")
@click.option("--probes/--no-probes", default=True, help="Look into the libraries the program uses [on].")
@click.option("--budget", metavar="SHARE", default="2%", help="What rlprof may cost before it thins calls [2%].")
@click.option("--span", "spans", multiple=True, metavar="MODULE:NAME[=PHASE]", help="Time a function of the program.")
@click.option(
    "--treat", "treatments", multiple=True, metavar="TEXT", help="Change the program: threads=1, … (see docs)."
)
@click.option("--expectations", type=click.Path(path_type=Path), metavar="FILE", help="Speeds to hold the run against.")
@click.option("--module-depth", type=click.IntRange(0), default=0, help="Split forwards by submodule this deep [0].")
@click.option("--sampler-hz", type=click.FloatRange(0, 1000), help="Stack samples a second, 0: off [97, then 48].")
@click.option("--schedule", metavar="wait=2,warmup=2,active=4,repeat=1", help="Log every span in these iterations.")
@click.option("--torch-trace", metavar=DEFAULT_TRACE, help="Have torch.profiler look on in these iterations.")
@click.option("--detailed", is_flag=True, help="Have cProfile look on for some iterations: NAME.prof and a text.")
@click.option("--detailed-by-phase", "by_phase", is_flag=True, help="The same with a profile for each phase.")
@click.option("--summary-every", type=click.IntRange(1), metavar="N", help="Print a short table every N env steps.")
@click.option("--summary-seconds", type=click.FloatRange(1), metavar="S", help="Print a short table every S seconds.")
@click.option("--live", is_flag=True, help="Show speed, phases and the first finding below the program's output.")
@click.option("--tensorboard", type=click.Path(path_type=Path), metavar="DIR", help="Log phases and speed there.")
@click.option("--wandb", is_flag=True, help="Log phases and speed to a wandb run of its own.")
@click.option("--prometheus", type=click.IntRange(0, 65535), metavar="PORT", help="Serve metrics to this machine.")
@click.option("--html/--no-html", default=True, help="Write the report as a page, NAME.html beside the recording [on].")
@click.option("-q", "--quiet", is_flag=True, help="Print no report at the end, only where the recording is.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
def run(
    module: str | None,
    out: Path | None,
    overwrite: bool,
    memory: bool,
    probes: bool,
    budget: str,
    spans: tuple[str, ...],
    treatments: tuple[str, ...],
    expectations: Path | None,
    module_depth: int,
    sampler_hz: float | None,
    schedule: str | None,
    torch_trace: str | None,
    detailed: bool,
    by_phase: bool,
    summary_every: int | None,
    summary_seconds: float | None,
    live: bool,
    tensorboard: Path | None,
    wandb: bool,
    prometheus: int | None,
    html: bool,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Record a Python program, then print where its time went.

    The program runs as it would without rlprof: same arguments, streams, signals and exit code. Options of rlprof
    come before the script, everything behind it is the program's. Child processes are recorded too.

    \b
    rlprof run train.py --envs 8
    rlprof run -m mypackage.train --seed 1
    rlprof run --out before.rlprof --summary-seconds 10 train.py
    rlprof run --schedule wait=2,warmup=2,active=4,repeat=1 train.py
    rlprof run --live train.py
    rlprof run --tensorboard runs/profile train.py
    rlprof run --torch-trace wait=2,warmup=2,active=4,repeat=1,record_shapes train.py
    rlprof run --detailed train.py
    rlprof run --span train:Agent.act=policy.forward train.py
    rlprof run --treat threads=1 --treat skip:train:Agent.log train.py
    """
    words = _python_words(module, command)
    events = Schedule.parse(schedule) if schedule else None
    trace = _trace(torch_trace, schedule, detailed or by_phase) if torch_trace else None
    options = _with_own_code(
        Options(
            memory=memory,
            probes=probes,
            module_depth=module_depth,
            sampler_hz=sampler_hz,
            schedule=events,
            torch_trace=trace,
            detailed=Detailed(by_phase) if detailed or by_phase else None,
            budget=parse_share(budget),
        ),
        spans,
        read_expectations(expectations) if expectations is not None else (),
        Path.cwd() if module else Path(command[0]).resolve().parent,
    )
    companions = _companions(live=live, tensorboard=tensorboard, wandb=wandb, prometheus=prometheus)
    if overwrite and out is not None:
        discard(out)
    if out is not None and (options.torch_trace or options.detailed):
        make_room(named(out), overwrite=overwrite)
    target = claim(out or default_target(f"{module}.py" if module else command[0]), numbered=out is None)
    watch = SummaryWatch(target, summary_every, summary_seconds) if summary_every or summary_seconds else None
    with _treated(treatments):
        code, recorded = record_program(words, target, options, watch, companions)
    _finish(target, recorded, Ending(quiet, html), named_spans=bool(options.spans))
    if recorded == target and (options.torch_trace or options.detailed):
        say_what_windows_left(target, detailed=options.detailed is not None, with_warnings=quiet)
    end_like(code)


def record_program(
    words: list[str], target: Path, options: Options, watch: Watch | None = None, companions: Sequence[Companion] = ()
) -> tuple[int, Path | None]:
    """Run `python WORDS` to its end into a claimed target: its exit code, and what `_join` makes of the recording."""
    record = Run(tuple(mask_arguments(["rlprof", *sys.argv[1:]])), time.time(), "running")
    write_run(parts_of(target), record)
    environment = environment_for(Inheritance(str(target), options, None), dict(os.environ))
    with _going_along(companions, target, watch) as look:
        code = supervise([sys.executable, *words], environment, look, 0.5)
    return code, _join(target, record.ended(_status(code), code))


@contextlib.contextmanager
def _treated(texts: tuple[str, ...]) -> Iterator[None]:
    """The environment names the treatments, those that it named before and those of the command line."""
    before = os.environ.get(TREATMENTS_VARIABLE)
    if not before and not texts:
        yield
        return
    from rlprof.treat.bootstrap import read_variable
    from rlprof.treat.registry import parse_treatments

    treatments = parse_treatments([*(treatment.text for treatment in read_variable(before)), *texts])
    os.environ[TREATMENTS_VARIABLE] = json.dumps([treatment.text for treatment in treatments])
    try:
        yield
    finally:
        if before is None:
            del os.environ[TREATMENTS_VARIABLE]
        else:
            os.environ[TREATMENTS_VARIABLE] = before


def _companions(**asked: Any) -> list[Companion]:
    if all(value is None or value is False for value in asked.values()):  # port 0 is asked for, too
        return []
    from rlprof.cli.chosen_companions import choose_companions

    return choose_companions(**asked)


@contextlib.contextmanager
def _going_along(companions: Sequence[Companion], target: Path, watch: Watch | None) -> Iterator[Watch | None]:
    """What to call while the program runs; behind it, the companions have seen its end."""
    if not companions:
        yield watch
        return
    from rlprof.cli.companions import Companions

    group = Companions(target, companions)

    def look() -> None:
        group()
        if watch is not None:
            watch()

    try:
        yield look
    finally:
        group.close()


def _trace(wanted: str, schedule: str | None, detailed: bool) -> TorchTrace:
    trace = TorchTrace.parse(wanted)
    if schedule:
        raise BadOption("--torch-trace logs the spans of its own iterations: leave out --schedule")
    if detailed and trace.schedule.repeat == 0:
        raise BadOption("--detailed begins after the last window of --torch-trace: give that a repeat=1 or more")
    return trace


def _with_own_code(
    options: Options, spans: tuple[str, ...], expected: tuple[Expectation, ...], directory: Path
) -> Options:
    """The options with what was said about the program itself, here and in its pyproject.toml."""
    for span in spans:
        parse_span(span)
    project = find_settings(directory, _say)
    return replace(
        options,
        spans=(*spans, *project.spans),
        not_env=project.not_env,
        not_buffer=project.not_buffer,
        not_advantage=project.not_advantage,
        not_evaluation=project.not_evaluation,
        not_teacher=project.not_teacher,
        expectations=tuple(row.to_plain() for row in (*expected, *project.expectations)),
    )


def _python_words(module: str | None, command: tuple[str, ...]) -> list[str]:
    """What comes after `python` on the user's behalf."""
    if module is not None:
        return ["-m", module, *command]
    if not command:
        raise BadOption("which program? For example: rlprof run train.py --its-own-options")
    if command[0].startswith("-"):
        raise BadOption(f"rlprof run has no option {command[0]}; options of the program come behind its script")
    script = Path(command[0])
    if not script.exists():
        hint = f"; for a module: rlprof run -m {command[0]}" if not script.suffix else ""
        raise BadOption(f"there is no script {command[0]}{hint}")
    if script.is_dir() and not (script / "__main__.py").exists():
        raise BadOption(f"{command[0]} is a directory without a __main__.py")
    return list(command)


def _status(code: int) -> Status:
    if code == 0:
        return "completed"
    if code in (-2, 130):
        return "interrupted"
    return "killed" if code < 0 else "failed"


@dataclass(frozen=True)
class Ending:
    """What is to be seen of a recording at the end of its run."""

    quiet: bool
    html: bool


def _finish(target: Path, recorded: Path | None, wanted: Ending, *, named_spans: bool = False) -> None:
    """Show what was recorded. Whatever goes wrong here, the program's own end is what counts."""
    if wanted.quiet and recorded == target:
        if named_spans:
            _say_what_was_not_found(target)
        _say(f"recorded into {short(target)}")
    if recorded is not None and not wanted.quiet:
        show(recorded, to_stderr=True, html=wanted.html)  # the program's stdout may be piped into something
    elif recorded is not None and wanted.html:
        write_page(recorded)


def _join(target: Path, record: Run) -> Path | None:
    """The recording in one file, or its parts where they could not be joined; None when nothing was recorded."""
    parts = parts_of(target)
    try:
        write_run(parts, record)
        return fold_in(merge(target))
    except EmptyRecording:
        _say("the program ended before anything was recorded; nothing is lost, there is just nothing to show")
        _remove_empty(target)
        return None
    except (RlprofError, sqlite3.Error, OSError) as error:
        _say(f"recorded into {short(parts)}, in parts that could not be joined: {error}")
        return parts


def show(recorded: Path, *, to_stderr: bool = False, html: bool = False) -> None:
    """Print the report of a recording, and write it as a page beside it."""
    read = _read(recorded)
    if read is None:
        return
    recording, report = read
    with contextlib.suppress(SystemExit):  # rich's answer to a reader that has gone; the program's end is passed on
        try:
            _draw(report, to_stderr)
        except Exception as error:
            _say_it_failed(recorded, error)
    if html:
        _write_page(recorded, recording, report)


def write_page(recorded: Path) -> None:
    """Only the page beside a recording, and a line that says where."""
    from rlprof.cli.pages import too_large

    said = too_large(recorded)
    if said is not None:  # before anything is computed from it
        _say(said)
        return
    read = _read(recorded)
    if read is not None:
        _write_page(recorded, *read)


def _write_page(recorded: Path, recording: Recording, report: Report) -> None:
    from rlprof.cli.pages import write_beside

    _say(write_beside(recorded, recording, report))


def _read(recorded: Path) -> tuple[Recording, Report] | None:
    from rlprof.advise.report import complete_report

    try:
        recording = open_recording(short(recorded))
        return recording, complete_report(recording)
    except Exception as error:  # a fault of ours in the report must not look like one of the program
        _say_it_failed(recorded, error)
        return None


def _draw(report: Report, to_stderr: bool) -> None:
    from rich.console import Console

    from rlprof.render.terminal import render_terminal

    render_terminal(report, Console(stderr=to_stderr))


def _say_it_failed(recorded: Path, error: Exception) -> None:
    _say(f"the report failed ({error!r}); the recording is whole: rlprof report {short(recorded)}")


def _say_what_was_not_found(recorded: Path) -> None:
    """A report says it among its warnings; without one it is said here."""
    from rlprof.analyse.own_code import spans_not_found

    with contextlib.suppress(RlprofError, sqlite3.Error, OSError):
        for warning in spans_not_found(open_recording(recorded)):
            _say(warning.message)


def _remove_empty(target: Path) -> None:
    import shutil

    shutil.rmtree(parts_of(target), ignore_errors=True)


def short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more: no reason to end unlike the program
        click.echo(f"rlprof: {text}", err=True)
