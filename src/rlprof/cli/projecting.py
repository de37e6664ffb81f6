"""`rlprof project`: how long the full run will take, from how each part of it has grown so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from rlprof.advise.steps import envs_per_step
from rlprof.analyse.apart import outside_windows
from rlprof.analyse.course import course_of
from rlprof.analyse.growth import growing_parts
from rlprof.analyse.projection import (
    Projection,
    Reach,
    in_words,
    project,
    project_episodes,
    reach,
    reach_in_words,
    rounded,
)
from rlprof.analyse.report import build_report
from rlprof.analyse.throughput import ENV_STEPS, EPISODES, counter_total
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording
from rlprof.model.units import format_count, format_duration
from rlprof.recording import open_recording

EPILOG = """\b
Examples:
  rlprof project run.rlprof --episodes 5000
  rlprof project run.rlprof --steps 10000000
  rlprof project run.rlprof --times 20
  rlprof project run.rlprof --hours 8"""
#: So many times as long as what was recorded is a long way to see ahead.
FAR: Final = 100.0
SECONDS_PER_HOUR: Final = 3600.0
#: Episodes of each environment; with fewer, those that have not ended count for much.
FEWEST_OF_EACH: Final = 3.0


@click.command("project", epilog=EPILOG, short_help="How long will the full run take?")
@click.argument("recording", type=click.Path())
@click.option("--episodes", type=click.FloatRange(min=0, min_open=True), help="A run of so many episodes.")
@click.option("--steps", type=click.FloatRange(min=0, min_open=True), help="A run of so many env steps.")
@click.option("--times", type=click.FloatRange(min=0, min_open=True), help="A run so many times as long, in env steps.")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True), help="How far a run comes in so many hours.")
def project_(
    recording: str, episodes: float | None, steps: float | None, times: float | None, hours: float | None
) -> None:
    """How long would a longer run of the recorded program take, or how far would it come?

    Parts whose cost grows go on growing as they have grown so far; everything else is taken in proportion. Start-up is
    left out. The interval holds what chance and the fitted growth leave open: what has not begun to grow yet is not in
    it.
    """
    if sum(option is not None for option in (episodes, steps, times, hours)) != 1:
        raise BadOption("say how long a run: one of --episodes, --steps, --times and --hours")
    opened = outside_windows(open_recording(recording))
    done = counter_total(opened, ENV_STEPS)
    if not done:
        raise BadOption(f"{clean_text(recording)} counts no env steps to project from")
    pace = course_of(opened).pace
    if pace is None or not float(pace.steps.sum()):
        _in_proportion(opened, done, _Asked(episodes, steps, times, hours))
        return
    seen = float(pace.steps.sum())  # the first and last moments of a run are in no stretch
    growths = growing_parts(pace)
    if hours is not None:
        _say_reach(reach(pace, growths, hours * SECONDS_PER_HOUR), hours, done)
        return
    found: Projection | None
    if episodes is not None:
        found, what = project_episodes(pace, growths, episodes), f"{format_count(episodes)} episodes"
        if found is None:
            raise BadOption("no episodes were counted: project by --steps or --times")
    else:
        wanted = steps if steps is not None else done * (times or 1.0)
        found, what = project(pace, growths, wanted / seen), f"{format_count(wanted)} env steps"
    click.echo(in_words(found, what))
    _say_how_sure(found.because, format_duration(found.low), format_duration(found.high))
    _say_if_far(found.times * seen / done)
    if episodes is not None:
        _say_if_few_are_over(opened)


def _say_reach(found: Reach, hours: float, done: float) -> None:
    click.echo(reach_in_words(found, _hours(hours)))
    _say_how_sure(found.because, format_count(rounded(found.low)), f"{format_count(rounded(found.high))} env steps")
    _say_if_far(found.steps / done)


def _say_how_sure(because: Sequence[str], low: str, high: str) -> None:
    click.echo(f"between {low} and {high} (95%), if it goes on as recorded")
    if not because:
        click.echo("nothing was seen to grow: in proportion to the recorded run")


def _say_if_few_are_over(opened: Recording) -> None:
    """The steps of all environments are counted from the first on, and an episode only when it is over."""
    at_once, over = envs_per_step(build_report(opened)) or 1.0, counter_total(opened, EPISODES) or 0.0
    if over < FEWEST_OF_EACH * at_once and at_once >= 2.0:
        click.echo(
            f"{format_count(over)} episodes were over in {at_once:.0f} environments at once: those that went on make "
            "each look longer than it is; record more of them, or project by --steps",
            err=True,
        )


def _say_if_far(times: float) -> None:
    if times > FAR:
        click.echo(f"{times:.0f} times the recorded run: record a longer one for a surer answer", err=True)


def _hours(hours: float) -> str:
    return f"{hours:g} hour{'' if hours == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """How long a run was asked about: one of these."""

    episodes: float | None
    steps: float | None
    times: float | None
    hours: float | None


def _in_proportion(opened: Recording, done: float, asked: _Asked) -> None:
    """A run that is too short to see anything grow."""
    ledger = build_report(opened).ledger
    seconds = max(ledger.wall_seconds - (ledger.startup_seconds or 0.0), 0.0)
    if asked.hours is not None:
        wanted = done * asked.hours * SECONDS_PER_HOUR / seconds if seconds else 0.0
        click.echo(f"{_hours(asked.hours)}: {format_count(float(f'{wanted:.3g}'))} env steps")
    elif asked.episodes is not None:
        played = counter_total(opened, EPISODES)
        if not played:
            raise BadOption("no episodes were counted: project by --steps or --times")
        click.echo(f"{format_count(asked.episodes)} episodes: {format_duration(seconds * asked.episodes / played)}")
    else:
        wanted = asked.steps if asked.steps is not None else done * (asked.times or 1.0)
        click.echo(f"{format_count(wanted)} env steps: {format_duration(seconds * wanted / done)}")
    click.echo("in proportion: the recorded run is too short to see whether anything grows")
