"""Facts about the machine and the program: always there, never a reason to fail."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from rlprof.record import facts as facts_module
from rlprof.record.facts import library_facts, machine_facts

PROMISED = {
    "host", "system", "cpu", "cores", "cores_usable", "cpu_quota", "memory_bytes", "python", "implementation",
    "executable", "directory", "git_commit", "birth", "environment", "load_at_start",
}  # fmt: skip


def test_the_promised_facts_are_there_and_can_be_written() -> None:
    facts = machine_facts()
    assert set(facts) >= PROMISED
    assert json.loads(json.dumps(facts)) == facts
    assert facts["cores"] >= facts["cores_usable"] >= 1
    assert facts["memory_bytes"] > 0
    assert facts["python"] == platform.python_version()


def refuse(*_: Any, **__: Any) -> Any:
    raise OSError("refused")


@pytest.mark.parametrize(
    ("holder", "name"),
    [
        (os, "getcwd"),
        (os, "sched_getaffinity"),
        (os, "getloadavg"),
        (Path, "read_text"),
        (Path, "is_file"),
        (socket, "gethostname"),
        (psutil, "virtual_memory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_system_that_will_not_say_leaves_a_gap(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str) -> None:
    monkeypatch.setattr(holder, name, refuse)
    assert set(machine_facts()) >= PROMISED


def test_variables_that_matter_are_noted_and_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("LD_PRELOAD", "http://user:secret@host/lib.so")
    monkeypatch.setenv("MY_OWN", "private")
    environment = machine_facts()["environment"]
    assert environment["OMP_NUM_THREADS"] == "3"
    assert "secret" not in environment["LD_PRELOAD"]
    assert "MY_OWN" not in environment


# --- the commit of the project ----------------------------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    git = tmp_path / "project" / ".git"
    git.mkdir()
    monkeypatch.chdir(tmp_path / "project" / "src")
    return git


def test_the_commit_of_a_branch_is_found(git: Path) -> None:
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n")
    assert machine_facts()["git_commit"] == COMMIT


def test_the_commit_of_a_packed_branch_is_found(git: Path) -> None:
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "packed-refs").write_text(f"# pack-refs\n{COMMIT} refs/heads/main\n")
    assert machine_facts()["git_commit"] == COMMIT


def test_a_commit_without_a_branch_is_found(git: Path) -> None:
    (git / "HEAD").write_text(f"{COMMIT}\n")
    assert machine_facts()["git_commit"] == COMMIT


def test_the_commit_of_a_further_work_tree_is_found(git: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = git.parent.parent / "tree"
    tree.mkdir()
    (git / "worktrees" / "tree").mkdir(parents=True)
    (git / "worktrees" / "tree" / "HEAD").write_text(f"{COMMIT}\n")
    (tree / ".git").write_text(f"gitdir: {git / 'worktrees' / 'tree'}\n")
    monkeypatch.chdir(tree)
    assert machine_facts()["git_commit"] == COMMIT


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"ref: refs/heads/gone", b"ref: ../../../etc/passwd", b"junk"])
def test_a_damaged_project_has_no_commit(git: Path, content: bytes) -> None:
    (git / "HEAD").write_bytes(content)
    assert machine_facts()["git_commit"] is None


# --- libraries --------------------------------------------------------------------------------------------------------


def a_module(**attributes: Any) -> ModuleType:
    module = ModuleType("torch")
    vars(module).update(attributes)
    return module


def test_versions_of_what_is_loaded_are_noted_and_nothing_is_loaded_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setitem(sys.modules, "gymnasium", a_module(__version__="1.2.3"))
    facts = library_facts()
    assert facts["gymnasium"] == "1.2.3"
    assert facts["gpu"] is None
    assert "torch" not in facts
    assert "torch" not in sys.modules


def test_torch_s_threads_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = a_module(__version__="2.9", get_num_threads=lambda: 4, get_num_interop_threads=lambda: 2)
    monkeypatch.setitem(sys.modules, "torch", torch)
    facts = library_facts()
    assert (facts["torch"], facts["torch_threads"], facts["torch_interop_threads"]) == ("2.9", 4, 2)


class Broken:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.mark.parametrize(
    "torch",
    [
        None,
        a_module(),
        a_module(get_num_threads=refuse, get_num_interop_threads=refuse),
        a_module(get_num_threads=lambda: 1),
        a_module(cuda=a_module(is_initialized=lambda: True, current_device=refuse, get_device_name=refuse)),
        Broken(),
    ],
    ids=["none", "half imported", "refuses", "half of it", "a device that refuses", "broken"],
)
def test_a_library_in_any_state_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch, torch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert json.dumps(facts_module.library_facts())
