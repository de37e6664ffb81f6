"""Virtual environments for the peers that cannot share one with rlprof, made on demand and kept in a cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from measure import HERE, ROOT, CannotMeasure, say

CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Environment:
    """A peer installed without its dependencies, and a file with those that its timers really import."""

    name: str
    peer: str
    requirements: str | None

    def recipe(self) -> str:
        needs = (HERE / self.requirements).read_text(encoding="utf-8") if self.requirements else ""
        return hashlib.sha256("\n".join((sys.version, self.peer, needs)).encode()).hexdigest()


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment("mlagents", "mlagents-envs==0.28.0", None),
        Environment("sample-factory", "sample-factory==2.1.1", "requirements-sample-factory.txt"),
    )
}


def environment_python(name: str, cache: Path) -> Path:
    """The interpreter of an environment, which is built when it is missing or its recipe has changed."""
    environment = ENVIRONMENTS[name]
    directory = cache.resolve() / name
    stamp = directory / "recipe.sha256"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != environment.recipe():
        _keep_out_of_git(cache)
        say(f"making the environment for {name}, once ...")
        _build(environment, directory)
        stamp.write_text(environment.recipe(), encoding="utf-8")
    return _python_of(directory)


def _build(environment: Environment, directory: Path) -> None:
    venv.create(directory, with_pip=True, clear=True)
    if environment.requirements:
        _pip_install(directory, ["-r", os.fspath(HERE / environment.requirements)])
    _pip_install(directory, ["--no-deps", environment.peer])


def _pip_install(directory: Path, what: list[str]) -> None:
    command = [os.fspath(_python_of(directory)), "-m", "pip", "install", "--quiet", *what]
    command += ["-c", os.fspath(_torch_constraint(directory))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise CannotMeasure(f"pip could not install {' '.join(what)}: {last}")


def _torch_constraint(directory: Path) -> Path:
    """The project's constraint on torch alone: what it asks of NumPy is what these peers clash with."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    file = directory / "constraints.txt"
    file.write_text("\n".join(line for line in lines if line.startswith("torch==")) + "\n", encoding="utf-8")
    return file


def _python_of(directory: Path) -> Path:
    return directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _keep_out_of_git(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    (cache / ".gitignore").write_text("*\n", encoding="utf-8")
