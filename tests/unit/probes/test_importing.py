"""A watched module is announced once it is there, and nobody else notices."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from rlprof.probes.importing import ImportWatch


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportWatch]:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "watched_thing").mkdir()
    (tmp_path / "watched_thing" / "__init__.py").write_text("from watched_thing.part import value\n")
    (tmp_path / "watched_thing" / "part.py").write_text("value = 1\n")
    (tmp_path / "watched_broken.py").write_text("raise RuntimeError('no')\n")
    made = ImportWatch()
    made.start()
    yield made
    made.stop()
    for name in [name for name in sys.modules if name.startswith("watched_")]:
        del sys.modules[name]


def test_a_module_is_announced_after_it_was_loaded_and_once(watch: ImportWatch) -> None:
    told: list[int] = []
    watch.watch("watched_thing", lambda module: told.append(module.value))
    importlib.import_module("watched_thing")
    importlib.reload(sys.modules["watched_thing"])
    assert told == [1]


def test_a_submodule_is_announced_before_its_package_goes_on(watch: ImportWatch) -> None:
    watch.watch("watched_thing.part", lambda module: setattr(module, "value", 2))
    assert importlib.import_module("watched_thing").value == 2


def test_a_module_that_is_there_already_is_announced_at_once(watch: ImportWatch) -> None:
    module = importlib.import_module("watched_thing")
    told: list[ModuleType] = []
    watch.watch("watched_thing", told.append)
    assert told == [module]


def test_a_watched_module_has_the_loader_and_spec_it_would_have_had(watch: ImportWatch) -> None:
    watch.watch("watched_thing", lambda module: None)
    module = importlib.import_module("watched_thing")
    assert type(module.__loader__).__module__.startswith("_frozen_importlib")
    assert module.__spec__ is not None
    assert module.__spec__.loader is module.__loader__


def test_a_module_that_cannot_be_imported_fails_as_it_would(watch: ImportWatch) -> None:
    told: list[ModuleType] = []
    watch.watch("watched_broken", told.append)
    watch.watch("watched_nothing", told.append)
    with pytest.raises(RuntimeError, match="no"):
        importlib.import_module("watched_broken")
    with pytest.raises(ModuleNotFoundError, match="watched_nothing"):
        importlib.import_module("watched_nothing")
    assert told == []
