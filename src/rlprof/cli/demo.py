"""`rlprof demo`: profile one of the demo programs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from rlprof.analyse.suspects import Suspicion
from rlprof.cli.demo_compare import Turns, show_comparison
from rlprof.cli.demo_outputs import Outputs, output_options
from rlprof.cli.demo_sections import show_breakdown, show_names, show_rollouts, show_suspects
from rlprof.cli.demo_table import REWARD, form_targets, show_table
from rlprof.cli.rollout_watch import RolloutWatch
from rlprof.cli.run import record_program, short, show, write_page
from rlprof.cli.supervise import Watch, end_like
from rlprof.cli.watch import SummaryWatch
from rlprof.model.errors import BadOption
from rlprof.model.expectations import Expectation
from rlprof.record.options import DEFAULT_TRACE, Options, TorchTrace
from rlprof.recording.discard import discard
from rlprof.recording.place import RUNS_DIRECTORY, SUFFIX, claim, default_target, named


@dataclass(frozen=True)
class Demo:
    """A training program, what it is about, and the profiles that it has besides the report."""

    module: str
    title: str
    needs: tuple[str, ...]
    breakdown: bool = False
    turns: Turns | None = None  # for --compare
    spans: tuple[str, ...] = ()  # functions of the program to time, as for `rlprof run --span`
    many: int | None = None  # environments to hold against one, for --table
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # knobs by mode, for --detailed
    names: tuple[str, ...] = ()  # operations to show by name below the report, and then the time by category
    suspicions: tuple[Suspicion, ...] = ()  # to show below the report with what each costs
    rollouts_every: int | None = None  # show the rollout tree that often, where the program marks its rollouts
    expected: tuple[Expectation, ...] = ()  # with the knobs as they are by default
    same_speed: frozenset[str] = frozenset()  # knobs that leave it so

    def expectations(self, knobs: Iterable[str]) -> tuple[dict[str, Any], ...]:
        """What is expected with these knobs, for the recording; nothing where they make another program of it."""
        changed = {knob.partition("=")[0] for knob in knobs if knob.startswith("-")}
        return tuple(row.to_plain() for row in self.expected) if changed <= self.same_speed else ()


#: What `robots` annotates, from the whole to its parts.
ROBOTS_OPERATIONS: Final = (
    "total", "data collection", "model update",
    "rgb observation generation", "rendering", "draw grid", "draw walls", "draw robots", "draw target", "resizing",
    "policy forward", "hidden states", "action and value", "action distribution", "sampling",
    "forward pass", "boundary padding", "conv encoder", "skip connection", "ConvLSTM layers", "global pooling",
    "projection",
)  # fmt: skip

DEMOS: Final = {
    "petri": Demo(
        module="rlprof.demos.petri",
        title="PPO schedules a factory on a Petri net (TorchRL): does a faster simulator pay?",
        needs=("torch", "torchrl", "tensordict", "gymnasium"),
        breakdown=True,
        turns=Turns("rlprof.cli.petri_turns", "turbo", "rlprof.demos.petri_simulation", "env step"),
        modes={"turbo": ("--turbo",), "plain": ("--no-turbo",)},
    ),
    "snake": Demo(
        module="rlprof.demos.snake",
        title="DQN plays 256 games of snake: a program with three slow places to find",
        needs=("torch", "gymnasium"),
        modes={"": ()},
        suspicions=(
            Suspicion("search", ("flood_fill_python", "_reachable"), "--flood-fill vectorised"),
            Suspicion("training", ("Agent.train", "Replay.sample"), "--train-steps 4"),
            Suspicion("push", ("push", "Replay.push"), "--push batched"),
            Suspicion("log", ("write_log",), "--log none"),
        ),
    ),
    "cyber": Demo(
        module="rlprof.demos.cyber",
        title="PPO defends a network: what do 200 environments in 200 processes bring?",
        needs=("torch", "gymnasium"),
        spans=(f"rlprof.demos.cyber_env:{REWARD}",),
        many=200,
        modes={"": ()},
    ),
    "robots": Demo(
        module="rlprof.demos.robots",
        title="Recurrent PPO looks at pictures of sliding robots (sb3-contrib): drawing, network or learning?",
        needs=("torch", "gymnasium", "stable_baselines3", "sb3_contrib", "PIL"),
        modes={"": ()},
        names=ROBOTS_OPERATIONS,
    ),
    "teacher": Demo(
        module="rlprof.demos.teacher",
        title="A student learns from a scripted teacher, then with PPO: what does the teacher cost?",
        needs=("torch", "gymnasium"),
        modes={"": ()},
        rollouts_every=20,
        expected=(Expectation("cpu", "supervised", 1500, 2500), Expectation("cpu", "ppo", 2500, 4500)),
        same_speed=frozenset({"--supervised-steps", "--total-steps", "--seed"}),
    ),
}


class _Demos(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(DEMOS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name, DEMOS[cmd_name]) if cmd_name in DEMOS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and args[0] not in DEMOS and not args[0].startswith("-"):
            raise BadOption(f"there is no demo {args[0]}; there are {', '.join(DEMOS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Demos, invoke_without_command=True, short_help="Profile one of the demo programs.")
@click.pass_context
def demo(ctx: click.Context) -> None:
    """Profile one of the demo programs: real training, to see what rlprof shows before you try it on your own.

    \b
    rlprof demo                          list them
    rlprof demo petri --batches 5        profile one; knobs of the program come behind its name
    rlprof demo petri --help             its knobs and its profiles
    python -m rlprof.demos.petri         run it without rlprof
    """
    if ctx.invoked_subcommand is None:
        width = max(map(len, DEMOS))
        for name, entry in DEMOS.items():
            click.echo(f"{name:<{width}}  {entry.title}")
        click.echo("\nrlprof demo NAME [knobs] profiles one, rlprof demo NAME --help shows its knobs")


def _command(name: str, entry: Demo) -> click.Command:
    options: list[click.Parameter] = [
        click.Option(["-o", "--out"], type=click.Path(path_type=Path), help=f"Recording to write [{RUNS_DIRECTORY}]."),
        click.Option(["--overwrite"], is_flag=True, help="Replace the recording named by --out."),
        click.Option(["--html/--no-html"], default=True, help="Write the report as a page beside each recording [on]."),
        click.Option(["--detailed"], is_flag=True, help="Profile by function with cProfile instead: .prof and text."),
        click.Option(["--summary-every"], type=click.IntRange(1), help="Print a short table every N env steps."),
        click.Option(["--torch-trace"], metavar=DEFAULT_TRACE, help="Have torch.profiler look on in these iterations."),
        *output_options(),
    ]
    if entry.breakdown:
        options.append(click.Option(["--breakdown"], is_flag=True, help="Print the time by component, not the report."))
    if entry.turns is not None:
        said = f"Both ways of `{entry.turns.name}` in turns, batch by batch: which is faster, and where."
        options.append(click.Option(["--compare"], is_flag=True, help=said))
    if entry.many is not None:
        options.append(
            click.Option(
                ["--table"], type=click.IntRange(2), is_flag=False, flag_value=entry.many, metavar="[ENVS]",
                help=f"Run it with one environment and with ENVS [{entry.many}] in processes; print both side by side.",
            )
        )  # fmt: skip
    if entry.rollouts_every:
        often = f"Print the rollout tree every N rollouts, 0: never [{entry.rollouts_every}]."
        options.append(click.Option(["--rollouts-every"], type=click.IntRange(0), help=often))
    knobs = click.Argument(["knobs"], nargs=-1, type=click.UNPROCESSED, metavar="[KNOBS]...")
    shown = click.Option(
        ["-h", "--help"], is_flag=True, is_eager=True, expose_value=False, help="Show this and the program's knobs.",
        callback=lambda ctx, _, asked: _show_help(ctx, entry) if asked and not ctx.resilient_parsing else None,
    )  # fmt: skip
    return click.Command(
        name,
        params=[*options, shown, knobs],
        callback=lambda **chosen: _profile(name, entry, **chosen),
        help=f"{entry.title}\n\nKNOBS are the program's own options.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )


def _show_help(ctx: click.Context, entry: Demo) -> None:
    click.echo(ctx.get_help() + "\n")
    _refuse_without_libraries(ctx.info_name or "it", entry)
    asked = subprocess.run(
        [sys.executable, "-m", entry.module, "--help"], capture_output=True, text=True, check=False
    ).stdout
    click.echo("Knobs of the program:\n" + asked.partition("options:\n")[2])
    ctx.exit()


def _refuse_without_libraries(name: str, entry: Demo) -> None:
    missing = [library for library in entry.needs if importlib.util.find_spec(library) is None]
    if missing:
        raise BadOption(f"{name} needs {', '.join(missing)}: pip install 'rlprof[demos]'")


def _profile(
    name: str,
    entry: Demo,
    out: Path | None,
    overwrite: bool,
    html: bool,
    detailed: bool,
    summary_every: int | None,
    torch_trace: str | None,
    charts: str | None,
    json_file: str | None,
    text_file: str | None,
    knobs: tuple[str, ...],
    breakdown: bool = False,
    compare: bool = False,
    table: int | None = None,
    rollouts_every: int | None = None,
) -> None:
    _refuse_without_libraries(name, entry)
    outputs = Outputs(charts, json_file, text_file)
    outputs.check()
    options = Options(
        spans=entry.spans,
        torch_trace=TorchTrace.parse(torch_trace) if torch_trace else None,
        expectations=entry.expectations(knobs),
    )
    target = named(out or default_target(name))
    made: list[Path | None] = []
    if table is not None:
        forms = (
            (words, _claimed(place, overwrite, numbered=out is None)) for words, place in form_targets(target, table)
        )
        made += _compare_forms(entry, forms, knobs, options)
    elif breakdown or not (detailed or compare):
        claimed = _claimed(target, overwrite, numbered=out is None)
        often = entry.rollouts_every if rollouts_every is None else rollouts_every
        recorded = _record(entry, claimed, knobs, options, _watch(claimed, summary_every, often))
        if recorded is not None:
            _show(entry, recorded, breakdown)
            outputs.write(recorded)
        made.append(recorded)
    if compare and entry.turns is not None:
        made.append(_compare_turns(entry.turns, target, overwrite, knobs, numbered=out is None, first=not breakdown))
    for recorded in made if html else ():
        if recorded is not None:
            write_page(recorded)
    if detailed:
        _profile_by_function(entry, target, knobs)


def _compare_turns(
    turns: Turns, target: Path, overwrite: bool, knobs: tuple[str, ...], *, numbered: bool, first: bool
) -> Path | None:
    """In a run of its own: what is recorded of one way alone is no comparison."""
    if not first:
        click.echo()
    place = target.with_name(f"{target.name.removesuffix(SUFFIX)}-{turns.name}{SUFFIX}")
    claimed = _claimed(place, overwrite, numbered=numbered)
    code, recorded = record_program(["-m", turns.module, *knobs], claimed, Options())
    if code != 0:
        end_like(code)
    if recorded is not None:
        show_comparison(turns, recorded)
    return recorded


def _claimed(target: Path, overwrite: bool, *, numbered: bool) -> Path:
    if overwrite and not numbered:
        discard(target)
    return claim(target, numbered=numbered)


def _watch(target: Path, summary_every: int | None, rollouts_every: int | None) -> Watch | None:
    """What to print while the program runs."""
    watches: list[Watch] = []
    if rollouts_every:
        watches.append(RolloutWatch(target, rollouts_every))
    if summary_every:
        watches.append(SummaryWatch(target, summary_every, None))

    def look() -> None:
        for watch in watches:
            watch()

    return look if watches else None


def _show(entry: Demo, recorded: Path, breakdown: bool) -> None:
    if breakdown:
        show_breakdown(recorded)
        return
    show(recorded)
    if entry.many is not None:
        click.echo()
        show_table([recorded])
    if entry.suspicions:
        show_suspects(recorded, entry.suspicions)
    if entry.names:
        show_names(recorded, entry.names)
    if entry.rollouts_every:
        show_rollouts(recorded, entry.expected)


def _record(
    entry: Demo, claimed: Path, knobs: tuple[str, ...], options: Options, watch: Watch | None = None
) -> Path | None:
    code, recorded = record_program(["-m", entry.module, *knobs], claimed, options, watch)
    if code != 0:
        end_like(code)
    return recorded


def _compare_forms(
    entry: Demo, forms: Iterable[tuple[tuple[str, ...], Path]], knobs: tuple[str, ...], options: Options
) -> list[Path]:
    """With one environment and with many, one after the other; each form has its knobs and its place."""
    found: list[Path] = []
    for words, claimed in forms:
        click.echo(f"{entry.module} {' '.join(words)}")
        recorded = _record(entry, claimed, (*words, *knobs), options)
        found += [recorded] if recorded is not None else []
    click.echo()
    show_table(found)
    click.echo("\nRecordings  " + "\n            ".join(map(short, found)))
    click.echo("rlprof report RECORDING shows the rest")
    return found


def _profile_by_function(entry: Demo, target: Path, knobs: tuple[str, ...]) -> None:
    """One run per mode under cProfile. They are runs of their own: its cost would spoil a recording."""
    from rlprof.cli.by_function import write_table

    target.parent.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for mode, mode_knobs in entry.modes.items():
        stem = target.name.removesuffix(SUFFIX) + (f"-{mode}" if mode else "")
        profile, table = target.with_name(f"{stem}.prof"), target.with_name(f"{stem}.txt")
        words = ["-m", "cProfile", "-o", str(profile), "-m", entry.module, *knobs, *mode_knobs]
        code = subprocess.run([sys.executable, *words], check=False).returncode
        if code != 0:
            end_like(code)
        write_table(profile, table)
        written += [table, profile]
    click.echo("cProfile  " + "\n          ".join(short(path) for path in written))
