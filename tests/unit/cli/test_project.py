"""`rlprof project` says how long a longer run takes, and why it is not in proportion."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlprof.cli.projecting import project_
from support.programs import run_recorded, write_program

STEADY = """
    import time
    from rlprof import count, iteration, profile

    kept = []
    for turn in range(120):
        iteration()
        with profile("env.step", phase="env.step"):
            time.sleep(0.02)
        count("env_steps", 10)
        if turn % 4 == 3:
            count("episodes", 1)
        with profile("sample", phase="buffer.sample"):
            kept.append(turn)
            GROWS
"""


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {}
    for name, grows in (("steady", "pass"), ("growing", "time.sleep(0.0006 * len(kept))")):
        folder = tmp_path_factory.mktemp(name)
        made[name] = run_recorded(write_program(folder, STEADY.replace("GROWS", grows))).target
    fewer = STEADY.replace("GROWS", "pass").replace("turn % 4 == 3", "turn % 8 == 7")
    made["fewer"] = run_recorded(write_program(tmp_path_factory.mktemp("fewer"), fewer)).target
    return made


def project(recording: Path, *options: str) -> Result:
    return CliRunner().invoke(project_, [str(recording), *options], catch_exceptions=True)


def test_what_does_not_grow_is_projected_in_proportion(recordings: dict[str, Path]) -> None:
    done = project(recordings["steady"], "--times", "10")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("12,000 env steps: ")
    assert "in proportion" in done.output
    assert "linear" not in done.output


def test_what_grows_takes_longer_than_in_proportion_and_is_named(recordings: dict[str, Path]) -> None:
    done = project(recordings["growing"], "--steps", "12000")
    assert done.exit_code == 0, done.output
    assert "linear would be" in done.output
    assert "buffer.sample" in done.output
    assert "between" in done.output


def test_few_episodes_of_many_environments_are_said_to_look_long(recordings: dict[str, Path]) -> None:
    """Ten environments at once: three episodes of each are enough, one and a half are not."""
    few = project(recordings["steady"], "--episodes", "300")
    assert "30 episodes were over in 10 environments at once" not in few.output
    fewer = project(recordings["fewer"], "--episodes", "300")
    assert "15 episodes were over in 10 environments at once" in fewer.output
    assert "--steps" in fewer.output
    assert "environments at once" not in project(recordings["fewer"], "--steps", "5000").output


def test_episodes_can_be_projected(recordings: dict[str, Path]) -> None:
    done = project(recordings["steady"], "--episodes", "300")
    assert done.output.startswith("300 episodes: ")


@pytest.mark.parametrize("options", [(), ("--steps", "10", "--times", "2")])
def test_it_must_be_said_how_long(recordings: dict[str, Path], options: tuple[str, ...]) -> None:
    done = project(recordings["steady"], *options)
    assert done.exit_code != 0
    assert "one of --episodes, --steps, --times and --hours" in str(done.exception)


def test_hours_say_how_far_a_run_comes(recordings: dict[str, Path]) -> None:
    steady = project(recordings["steady"], "--hours", "1")
    assert steady.exit_code == 0, steady.output
    assert steady.output.startswith("1 hour: ")
    assert "in proportion" in steady.output


def test_what_grows_comes_less_far_in_the_hours_and_is_named(recordings: dict[str, Path]) -> None:
    done = project(recordings["growing"], "--hours", "0.1")
    assert done.exit_code == 0, done.output
    words = done.output.splitlines()[0].replace(",", "").split()
    reached, linear = float(words[2]), float(words[words.index("be") + 1])
    assert reached < linear
    assert "because of buffer.sample" in done.output
    back = project(recordings["growing"], "--steps", str(reached))
    assert "6m" in back.output.splitlines()[0] or "5m 5" in back.output.splitlines()[0]
