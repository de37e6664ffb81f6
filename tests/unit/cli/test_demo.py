"""`rlprof demo`: what there is, and what is said when it cannot be run."""

from __future__ import annotations

import importlib.util
import pstats
from pathlib import Path

import pytest
from click.testing import CliRunner

from rlprof.cli import demo as command
from rlprof.cli.demo import DEMOS, Demo
from rlprof.cli.main import main


def test_it_lists_every_demo_with_one_line() -> None:
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0
    for name, entry in DEMOS.items():
        (line,) = [line for line in result.output.splitlines() if line.startswith(f"{name} ")]
        assert line.endswith(entry.title)


@pytest.mark.parametrize("name", DEMOS)
def test_its_program_is_there(name: str) -> None:
    assert importlib.util.find_spec(DEMOS[name].module) is not None


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    result = CliRunner().invoke(main, ["demo", "tetris"])
    assert result.exit_code == 2
    assert "there is no demo tetris; there are petri, snake, cyber, robots, teacher" in result.output


def test_a_missing_library_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DEMOS, "petri", Demo("rlprof.demos.petri", "", needs=("json", "no_such_library")))
    result = CliRunner().invoke(main, ["demo", "petri"])
    assert result.exit_code == 2
    assert "petri needs no_such_library: pip install 'rlprof[demos]'" in result.output


def test_functions_are_profiled_once_per_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(
        "import sys\n"
        "def turbo(): sum(range(1000))\n"
        "def plain(): sum(range(9000))\n"
        "def work(): {'--turbo': turbo, '--no-turbo': plain}[sys.argv[-1]]()\n"
        "if __name__ == '__main__': work()\n"
    )
    modes = {"turbo": ("--turbo",), "plain": ("--no-turbo",)}
    monkeypatch.setitem(command.DEMOS, "petri", Demo("program", "", needs=(), modes=modes))
    result = CliRunner().invoke(main, ["demo", "petri", "--detailed", "-o", "found", "--batches", "1"])
    assert result.exit_code == 0, result.output
    files = ["found-turbo.txt", "found-turbo.prof", "found-plain.txt", "found-plain.prof"]
    assert result.output.split()[1:] == files
    for mode, other in (("turbo", "plain"), ("plain", "turbo")):
        functions = {name for _, _, name in pstats.Stats(f"found-{mode}.prof").stats}  # type: ignore[attr-defined]
        assert {"work", mode} <= functions
        assert other not in functions
        assert "Ordered by: cumulative time" in (tmp_path / f"found-{mode}.txt").read_text()
    assert not list(tmp_path.glob("*.rlprof*"))


def test_speeds_are_expected_only_of_the_program_that_they_are_about() -> None:
    teacher = DEMOS["teacher"]
    assert [row["phase"] for row in teacher.expectations(["--total-steps=64", "--seed", "3"])] == ["supervised", "ppo"]
    assert teacher.expectations(["--envs", "2"]) == ()
    assert DEMOS["petri"].expectations([]) == ()
