"""Looking for named functions at a moment when somebody looks already."""

from __future__ import annotations

import functools
import sys
from types import FunctionType, ModuleType
from typing import Any

import pytest

from rlprof.probes.looks_apart import OneAtATime
from rlprof.probes.named_functions import NamedFunctions
from rlprof.probes.patching import Patches
from rlprof.record.targets import parse_name


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("__main__")
    exec("def early(): return 1\ndef late(): return 2\n", vars(module))
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def test_a_look_within_a_look_finds_each_function_once(script: ModuleType) -> None:
    wrapped: list[str] = []

    def make(target: Any, raw: Any) -> Any:
        wrapped.append(target.name)
        if len(wrapped) == 1:
            functions.look()  # as a collection of garbage may ask for, which anything that is made here can begin
        return functools.partial(raw)

    patches = Patches()
    functions = NamedFunctions(
        [parse_name("__main__:early"), parse_name("__main__:late")], make, patches, changed=lambda _: None
    )
    assert not functions.look()
    assert sorted(functions.found) == ["__main__:early", "__main__:late"]
    assert (script.early(), script.late()) == (1, 2)
    patches.undo()
    assert isinstance(script.early, FunctionType)


def test_whoever_is_inside_sees_that_it_is_taken() -> None:
    one = OneAtATime()
    assert not one.is_taken
    with one:
        assert one.is_taken
        with one:
            assert one.is_taken
        assert one.is_taken
    assert not one.is_taken
