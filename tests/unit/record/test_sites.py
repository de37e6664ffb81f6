"""Places that call something: how they are named, how many are, and that they are told apart."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rlprof import _core
from rlprof.record.sites import MOST_KNOWN, MOST_SITES, Call, Sites, Tensors, counted_method, short_path


def frame_at(file: str, line: int) -> FrameType:
    made: dict[str, Any] = {"frame": sys._getframe}
    exec(compile("\n" * (line - 1) + "here = frame()", file, "exec"), made)
    found: FrameType = made["here"]
    return found


def test_a_place_is_named_by_what_is_called_its_file_and_line() -> None:
    assert Sites().name(".item()", frame_at(os.path.join(os.getcwd(), "train.py"), 12)) == ".item() train.py:12"


def test_paths_are_short_where_that_says_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = os.getcwd()
    assert short_path(os.path.join(here, "agents", "ppo.py")) == os.path.join("agents", "ppo.py")
    assert short_path(os.path.join(here, "lib", "site-packages", "sb3", "ppo.py")) == os.path.join("sb3", "ppo.py")
    assert short_path("/elsewhere/ppo.py") == "/elsewhere/ppo.py"


def test_places_below_some_folders_are_passed_over() -> None:
    sites = Sites("/library/", "<made up>")
    assert sites.name("f", frame_at("/library/optimizer.py", 3)) is None
    assert sites.name("f", frame_at("<made up>.7", 3)) is None
    assert sites.name("f", frame_at("/program/train.py", 3)) == "f /program/train.py:3"


def test_the_number_of_names_is_bounded_and_those_that_are_there_stay() -> None:
    sites = Sites()
    names = [sites.name("f", frame_at("/a.py", line)) for line in range(1, MOST_SITES + 31)]
    assert names[:MOST_SITES] == [f"f /a.py:{line}" for line in range(1, MOST_SITES + 1)]
    assert set(names[MOST_SITES:]) == {"f (more places)"}
    assert sites.name("f", frame_at("/a.py", 1)) == "f /a.py:1"


def test_the_number_of_places_kept_is_bounded_and_calls_go_on() -> None:
    sites = Sites()
    call = Call(sites, "f", len)
    for _ in range(MOST_KNOWN):
        assert sites.keep(sys._getframe().f_code)
    name, run = call.find(frame_at("/a.py", 1))
    assert (name, run([1, 2]), call.known) == ("f /a.py:1", 2, {})


def test_a_warning_names_the_place_of_the_call() -> None:
    def warn(it: str) -> None:
        warnings.warn(it, stacklevel=2)

    _, run = Call(Sites(), "f", warn, "it").find(frame_at("/program/train.py", 37))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run("slow")
    assert [(warning.filename, warning.lineno) for warning in said] == [("/program/train.py", 37)]


class Value:
    is_cpu = True

    def item(self, *args: Any) -> tuple[Any, ...]:
        return (self, *args)


def test_an_object_finds_the_counted_method_and_a_class_the_original() -> None:
    class Counted(Value):
        pass

    plain = Tensors(lambda it: False, contextlib.nullcontext)
    Counted.item = ours = counted_method(Sites(), "f", Value.item, "transfer.sync", plain)  # type: ignore[method-assign,assignment]
    value = Counted()
    assert isinstance(ours, _core.Counted)
    assert Counted.item is Value.item
    assert (value.item(), value.item(1)) == ((value,), (value, 1))
