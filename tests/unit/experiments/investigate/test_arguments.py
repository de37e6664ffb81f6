"""Changing a command: options are replaced where they stand, added where they do not, and taken out."""

from __future__ import annotations

import shlex

import pytest

from rlprof.experiments.investigate.arguments import changed_words, settings_of
from rlprof.experiments.investigate.plan import BadPlan


def changed(command: str, add: str = "", remove: str = "") -> str:
    return shlex.join(changed_words(tuple(shlex.split(command)), shlex.split(add), shlex.split(remove)))


@pytest.mark.parametrize(
    ("command", "add", "remove", "found"),
    [
        ("train.py", "--envs 8", "", "train.py --envs 8"),
        ("train.py --envs 4 --seed 1", "--envs 8", "", "train.py --seed 1 --envs 8"),
        ("train.py --envs=4", "--envs 8", "", "train.py --envs 8"),
        ("train.py --envs 4", "--envs=8", "", "train.py --envs=8"),
        ("-m my.train --envs 4", "--envs 8", "", "-m my.train --envs 8"),
        ("train.py --envs 4 CartPole-v1", "--envs 8", "", "train.py CartPole-v1 --envs 8"),
        ("train.py --low -3.5 --high 2", "--low -1", "", "train.py --high 2 --low -1"),
        ("train.py --turbo", "--turbo", "", "train.py --turbo"),
        ("train.py --turbo --seed 1", "", "--turbo", "train.py --seed 1"),
        ("train.py --video 100 --seed 1", "", "--video 100", "train.py --seed 1"),
        ("train.py --sizes 64 64 --seed 1", "--sizes 8 8", "", "train.py --seed 1 --sizes 8 8"),
        ("train.py lr=3 seed=1", "lr=4", "", "train.py seed=1 lr=4"),
        ("train.py a.txt", "b.txt", "", "train.py a.txt b.txt"),
        ("train.py --envs 4 --envs 5", "--envs 8", "", "train.py --envs 8"),
    ],
)  # fmt: skip
def test_words_are_replaced_added_and_taken_out(command: str, add: str, remove: str, found: str) -> None:
    assert changed(command, add, remove) == found


def test_the_program_itself_is_never_taken_for_an_argument() -> None:
    assert changed("-m train --train 1", "--train 2") == "-m train --train 2"
    assert changed("train.py", "train.py") == "train.py train.py"


def test_what_is_not_there_cannot_be_taken_out() -> None:
    with pytest.raises(BadPlan, match="has no --video that could be removed"):
        changed("train.py --seed 1", "", "--video")


def test_settings_are_options_with_their_values_assignments_and_words() -> None:
    found = [(s.name, s.key, s.words) for s in settings_of(["--a", "1", "2", "--no-b", "--c=3", "-4", "x.y=5", "z"])]
    assert found == [
        ("--a", "--a", ("--a", "1", "2")),
        ("--no-b", "--b", ("--no-b",)),
        ("--c", "--c", ("--c=3",)),
        ("-4", "-4", ("-4",)),
        ("x.y", "x.y", ("x.y=5",)),
        ("z", "z", ("z",)),
    ]
