"""Facts about the machine and the program that a reader needs to judge the numbers. Nothing here may fail."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil

from rlprof.record.control_groups import cpu_quota, memory_limit
from rlprof.record.core_use import core_use
from rlprof.record.device import describe_device
from rlprof.record.memory_use import memory_use
from rlprof.record.secrets import mask_variable
from rlprof.recording.liveness import birth_mark

_VARIABLES: Final = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_PROC_BIND",
    "KMP_AFFINITY", "KMP_BLOCKTIME", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF",
    "PYTHONHASHSEED", "PYTHONOPTIMIZE", "MALLOC_ARENA_MAX", "LD_PRELOAD",
)  # fmt: skip


def machine_facts() -> dict[str, Any]:
    """What holds for the whole life of the process. What the system will not say is None."""
    asked: dict[str, Callable[[], Any]] = {
        "host": socket.gethostname,
        "system": lambda: f"{platform.system()} {platform.release()}",
        "cpu": _cpu_model,
        "cores": os.cpu_count,
        "cores_usable": usable_cores,
        "cpu_quota": cpu_quota,
        "memory_bytes": lambda: psutil.virtual_memory().total,
        "memory_limit_bytes": memory_limit,
        "python": platform.python_version,
        "implementation": platform.python_implementation,
        "executable": lambda: sys.executable,
        "directory": os.getcwd,
        "git_commit": _git_commit,
        "birth": lambda: birth_mark(os.getpid()),
        "environment": _environment,
        "load_at_start": lambda: os.getloadavg()[0],
        "core_use_at_start": core_use,
        "memory_use_at_start": memory_use,
    }
    return {name: _answer(ask) for name, ask in asked.items()}


def library_facts() -> dict[str, Any]:
    """What changes as a program goes on: versions of what it has loaded by now, and what it has used of the cores."""
    facts: dict[str, Any] = {}
    for name in ("numpy", "torch", "gymnasium", "stable_baselines3", "torchrl", "tensordict", "ray"):
        version = _answer(partial(getattr, sys.modules.get(name), "__version__", None))
        if version is not None:
            facts[name] = str(version)
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        facts["torch_threads"] = _answer(lambda: int(torch.get_num_threads()))
        facts["torch_interop_threads"] = _answer(lambda: int(torch.get_num_interop_threads()))
    facts["gpu"] = _answer(describe_device)
    facts["core_use"] = _answer(core_use)
    facts["memory_use"] = _answer(memory_use)
    return facts


def _answer(ask: Callable[[], Any]) -> Any:
    """What was asked for, or None: a system or a library in whatever state is no reason to stop a training program."""
    try:
        return ask()
    except Exception:
        return None


def _environment() -> dict[str, str]:
    return {name: mask_variable(name, os.environ[name]) for name in _VARIABLES if name in os.environ}


def _cpu_model() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def usable_cores() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count()


def _git_commit() -> str | None:
    """The commit of the project the program runs in, read from its files: starting git would cost more."""
    directory = Path.cwd()
    for folder in (directory, *directory.parents):
        git = folder / ".git"
        if git.is_file():  # a further work tree: the file says where its own head is
            git = folder / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        if (git / "HEAD").is_file():
            return _commit_at(git)
    return None


def _commit_at(git: Path) -> str | None:
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref: "):
        return _as_commit(head)
    name = head.removeprefix("ref: ")
    shared = git / (git / "commondir").read_text(encoding="utf-8").strip() if (git / "commondir").is_file() else git
    for folder in (git, shared):
        if name.startswith("refs/") and ".." not in name and (folder / name).is_file():
            return _as_commit((folder / name).read_text(encoding="utf-8").strip())
    for line in (shared / "packed-refs").read_text(encoding="utf-8").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return _as_commit(commit)
    return None


def _as_commit(text: str) -> str | None:
    return text if re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", text) else None
