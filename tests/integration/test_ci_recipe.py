"""The recipe for CI in docs/compare.md, run word for word: only where packages come from is left out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: A package beside the script, so that a side that imports the other side's package is noticed.
TRAIN = """
    import time
    import pace
    from rlprof import count, iteration, profile

    for _ in range(25):
        iteration()
        with profile("update", phase="learn.loss"):
            time.sleep(pace.UPDATE)
        count("env_steps", 8)
"""


def recipe() -> list[str]:
    """The shell of each step, in order."""
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    steps = re.findall(r"^- run: (?:\|\n((?:    .*\n)+)|(.*)\n)", block, re.MULTILINE)
    return [textwrap.dedent(several) or one for several, one in steps]


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def pull_request(folder: Path, old: float, new: float) -> Path:
    """A clone with a change on top of its origin's main."""
    origin, clone = folder / "origin", folder / "clone"
    origin.mkdir()
    (origin / "train.py").write_text(textwrap.dedent(TRAIN))
    (origin / "pace.py").write_text(f"UPDATE = {old}\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "old"]):
        git(origin, *words)
    git(folder, "clone", "-q", str(origin), str(clone))
    (clone / "pace.py").write_text(f"UPDATE = {new}\n")
    return clone


@pytest.mark.slow
@pytest.mark.parametrize(("new", "code"), [(0.009, 1), (0.003, 0)], ids=["slower", "alike"])
def test_the_recipe_stops_a_regression_and_lets_the_rest_pass(tmp_path: Path, new: float, code: int) -> None:
    clone = pull_request(tmp_path, 0.003, new)
    summary = tmp_path / "summary.md"
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    install, *steps = recipe()
    assert install.startswith("pip install")
    codes = [
        subprocess.run(["bash", "-ec", step], cwd=clone, env=environment, check=False).returncode for step in steps
    ]
    assert codes == [0, 0, code, 0]
    said = summary.read_text(encoding="utf-8")
    assert said.startswith("## rlprof: regression" if code else "## rlprof: no regression")
    assert "6 pairs of runs" in said
    assert "not-interleaved" not in said
