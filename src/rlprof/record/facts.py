"""Facts about the machine and the program that a reader needs to judge the numbers. Nothing here may fail."""

from __future__ import annotations

import os
import platform
import socket
import sys
from pathlib import Path
from typing import Any, Final

import psutil

from rlprof.record.device import describe_device
from rlprof.record.secrets import mask_variable
from rlprof.recording.liveness import birth_mark

_VARIABLES: Final = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_PROC_BIND",
    "KMP_AFFINITY", "KMP_BLOCKTIME", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF",
    "PYTHONHASHSEED", "PYTHONOPTIMIZE", "MALLOC_ARENA_MAX", "LD_PRELOAD",
)  # fmt: skip


def machine_facts() -> dict[str, Any]:
    """What holds for the whole life of the process."""
    return {
        "host": socket.gethostname(),
        "system": f"{platform.system()} {platform.release()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "cores_usable": _usable_cores(),
        "cpu_quota": _cgroup_quota(),
        "memory_bytes": psutil.virtual_memory().total,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "directory": _working_directory(),
        "git_commit": _git_commit(),
        "birth": birth_mark(os.getpid()),
        "environment": {name: mask_variable(name, os.environ[name]) for name in _VARIABLES if name in os.environ},
        "load_at_start": _load(),
    }


def library_facts() -> dict[str, Any]:
    """Versions of what the program has loaded by now; asked again later, because programs import as they go."""
    facts: dict[str, Any] = {}
    for name in ("numpy", "torch", "gymnasium", "stable_baselines3", "torchrl", "tensordict", "ray"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            facts[name] = str(version)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        facts["torch_threads"] = torch.get_num_threads()
        facts["torch_interop_threads"] = torch.get_num_interop_threads()
    facts["gpu"] = describe_device()
    return facts


def _cpu_model() -> str | None:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or None


def _usable_cores() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count()


def _cgroup_quota() -> float | None:
    """CPUs' worth of time that a container may use, or None where nothing limits it."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        quota = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text(encoding="ascii")
        period = Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text(encoding="ascii")
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError):
        return None


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _git_commit() -> str | None:
    """The commit of the project the program runs in, read from its files: starting git would cost more."""
    directory = _working_directory()
    if directory is None:
        return None
    for folder in (Path(directory), *Path(directory).parents):
        head = folder / ".git" / "HEAD"
        if head.is_file():
            return _resolve_head(folder / ".git", head)
    return None


def _resolve_head(git: Path, head: Path) -> str | None:
    try:
        text = head.read_text(encoding="utf-8").strip()
        if not text.startswith("ref: "):
            return text
        name = text.removeprefix("ref: ")
        loose = git / name
        if loose.is_file():
            return loose.read_text(encoding="utf-8").strip()
        for line in (git / "packed-refs").read_text(encoding="utf-8").splitlines():
            commit, _, packed = line.partition(" ")
            if packed == name:
                return commit
    except OSError:
        pass
    return None
