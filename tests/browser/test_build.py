"""What is in the package is what web/ builds, types and all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "web"
ASSETS = ROOT / "src" / "rlprof" / "render" / "page" / "assets"


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    """Installed by `make test`, from the lockfile; a test asks nothing of the network."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js here: on Debian, apt-get install nodejs npm")
    if not (WEB / "node_modules").is_dir():
        pytest.skip("the page's libraries are not installed: npm ci --prefix web")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=WEB, capture_output=True, text=True, check=False, timeout=120)


def test_building_the_page_gives_what_is_in_the_package(tmp_path: Path) -> None:
    done = run("node", "build.mjs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for name in ("report.js", "report.css", "built-from.txt"):
        assert (tmp_path / name).read_bytes() == (ASSETS / name).read_bytes(), f"{name}: npm run build --prefix web"


def test_the_types_of_the_page_hold() -> None:
    done = run("node", "node_modules/typescript/bin/tsc", "--noEmit")
    assert done.returncode == 0, done.stdout
