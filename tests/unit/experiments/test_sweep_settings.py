"""From parameters and placeholders to arms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.confirmation import neighbours
from rlprof.experiments.sweep_settings import THREAD_VARIABLES, Grid, arms_of, parse_parameters, processors
from rlprof.model.errors import BadOption

COMMAND = ("train.py", "--envs", "{envs}", "--name=run-{envs}-{backend}")


def test_a_grid_holds_every_combination_once() -> None:
    arms = arms_of(Grid({"envs": ("1", "8"), "backend": ("serial", "async")}), COMMAND)
    assert list(arms) == [
        "envs=1+backend=serial", "envs=1+backend=async", "envs=8+backend=serial", "envs=8+backend=async",
    ]  # fmt: skip
    arm, values = arms["envs=8+backend=async"]
    assert arm.command == ("train.py", "--envs", "8", "--name=run-8-async")
    assert values == {"envs": "8", "backend": "async"}


def test_one_at_a_time_keeps_the_others_at_their_first_value() -> None:
    settings = Grid({"a": ("1", "2", "3"), "b": ("x", "y")}, one_at_a_time=True).settings()
    assert [tuple(setting.values()) for setting in settings] == [("1", "x"), ("2", "x"), ("3", "x"), ("1", "y")]


def test_process_settings_need_no_placeholder() -> None:
    arms = arms_of(Grid({"threads": ("2",), "affinity": ("0-1",), "env:MODE": ("fast",)}), ("train.py",))
    ((arm, _),) = arms.values()
    assert arm.environment == {**dict.fromkeys(THREAD_VARIABLES, "2"), "MODE": "fast"}
    assert arm.affinity == (0, 1)
    assert arm.command == ("train.py",)


def test_a_placeholder_of_that_name_goes_to_the_program_instead() -> None:
    ((arm, _),) = arms_of(Grid({"threads": ("2",)}), ("train.py", "--threads", "{threads}")).values()
    assert arm.command == ("train.py", "--threads", "2")
    assert arm.environment == {}


def test_braces_that_are_no_placeholder_stay_as_they_are() -> None:
    ((arm, _),) = arms_of(Grid({"n": ("2",)}), ("train.py", '{"size": {n}, "x": {}}')).values()
    assert arm.command == ("train.py", '{"size": 2, "x": {}}')


def test_values_with_commas_are_parted_by_semicolons() -> None:
    assert parse_parameters(["layers=64,64;128,128", "lr=1e-3,1e-4"]) == {
        "layers": ("64,64", "128,128"),
        "lr": ("1e-3", "1e-4"),
    }


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "nothing to vary"),
        (["envs"], "is no parameter with values"),
        (["envs="], "is no parameter with values"),
        (["envs=1,,2"], "is no parameter with values"),
        (["e nvs=1"], "is no parameter with values"),
        (["envs=1", "envs=2"], "is given twice"),
        (["envs=1,1"], "has a value twice"),
    ],
)
def test_what_is_no_parameter_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        parse_parameters(texts)


def test_a_parameter_that_nothing_takes_is_a_clear_error() -> None:
    with pytest.raises(BadOption, match=r"nothing takes the parameter workers: write \{workers\} where"):
        arms_of(Grid({"workers": ("1", "2")}), ("train.py",))
    with pytest.raises(BadOption, match=r"the command has \{backend\}, but there are no values"):
        arms_of(Grid({"envs": ("1",)}), COMMAND)
    with pytest.raises(BadOption, match="is no number of threads"):
        arms_of(Grid({"threads": ("many",)}), ("train.py",))
    with pytest.raises(BadOption, match="settings: --one-at-a-time"):
        arms_of(Grid({name: tuple("123456789") for name in "abc"}), ("train.py", "{a}{b}{c}"))


@pytest.mark.parametrize(("text", "numbers"), [("0", (0,)), ("0-3", (0, 1, 2, 3)), ("0+2+5-6", (0, 2, 5, 6))])
def test_processors_are_named_by_numbers_and_ranges(text: str, numbers: tuple[int, ...]) -> None:
    assert processors(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "1-", "3-1", "1-2-3", "0,1", "9999999"])
def test_what_names_no_processors_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        processors(text)


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=8, unique=True))
def test_any_values_make_arms_with_names_of_their_own(values: list[str]) -> None:
    arms = arms_of(Grid({"env:X": tuple(values)}), ("train.py",))
    assert len({name.lower() for name in arms}) == len(values)
    assert [found["env:X"] for _, found in arms.values()] == values


def test_neighbours_are_one_step_away_in_one_parameter() -> None:
    grid = Grid({"envs": ("1", "32", "8"), "backend": ("serial", "async", "subproc")})
    settings = {name: values for name, (_, values) in arms_of(grid, ("t.py", "{envs}{backend}")).items()}
    near = neighbours("envs=8+backend=async", settings, grid.parameters, list(settings))
    assert set(near) == {
        "envs=1+backend=async", "envs=32+backend=async", "envs=8+backend=serial", "envs=8+backend=subproc",
    }  # fmt: skip
    assert neighbours("envs=1+backend=async", settings, grid.parameters, ["envs=32+backend=async"]) == []
