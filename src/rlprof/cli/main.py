"""The entry point: `rlprof COMMAND`."""

from __future__ import annotations

import importlib
from typing import Final

import click

from rlprof._version import __version__
from rlprof.cli.errors import CliError
from rlprof.model.errors import RlprofError

#: Loaded when asked for, so that `rlprof run` does not wait for what it does not need.
COMMANDS: Final = {
    "run": "record a training program and print its report",
    "report": "show a recording",
    "watch": "look at a run that goes on",
    "compare": "is B faster than A, where, and can we tell at all",
    "quickwins": "try harmless cures on a program and measure each",
    "sweep": "run a grid of settings: which is fastest, how it scales, where more stops paying",
    "investigate": "test hypotheses about what would make a program faster",
    "check": "end with 1 where a run is proven to be slower than a baseline",
    "project": "how long the full run will take, and why",
    "import": "make a recording from a torch trace, ML-Agents timers or cProfile",
    "export": "write a recording for Perfetto, speedscope, TensorBoard, pandas",
    "rules": "list what findings come from",
    "explain": "show the page of a rule: evidence, cure, traps",
    "merge": "join the parts that a killed run left behind",
    "demo": "profile one of the demo programs",
    "selftest": "check that rlprof works on this machine, and what it costs here",
}

#: Commands whose name no module can have, or another module has.
_ELSEWHERE: Final = {
    "import": ("importing", "import_"),
    "watch": ("live", "watch"),
    "project": ("projecting", "project_"),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = _ELSEWHERE.get(cmd_name, (cmd_name, cmd_name))
        command: click.Command = getattr(importlib.import_module(f"rlprof.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except RlprofError as error:
            raise CliError(error) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rlprof")
def main() -> None:
    """A performance doctor for reinforcement-learning training.

    \b
    rlprof run train.py --envs 8        record a program, then print where its time went
    rlprof report rlprof-runs/NAME      show a recording again
    """
