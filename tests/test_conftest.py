"""The checks in conftest.py catch what they are there for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


def run_pytest(directory: Path, test: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on one made-up test file with this suite's conftest."""
    (directory / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (directory / "pytest.ini").write_text("[pytest]\nmarkers = browser\n", encoding="utf-8")
    tests = directory / "browser"
    tests.mkdir()
    (tests / "test_made_up.py").write_text(test, encoding="utf-8")
    inherited = {key: value for key, value in os.environ.items() if key != "RLPROF_REQUIRE_BROWSER"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(directory)],
        cwd=directory,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


#: What a careless test could leave, and the name under which it is reported.
LEFT = {
    "threading.Thread(target=threading.Event().wait, name='rlprof-writer', daemon=True).start()": "rlprof's threads",
    "os.environ['RLPROF_RUN'] = 'x'": "environment variables (RLPROF_*, PYTHONPATH)",
    "os.environ['PYTHONPATH'] = 'x'": "environment variables (RLPROF_*, PYTHONPATH)",
    "sys.path.append('x')": "sys.path",
    "gc.callbacks.append(lambda phase, info: None)": "gc.callbacks",
    "threading.excepthook = print": "threading.excepthook",
    "sys.setprofile(lambda *event: None)": "profile function",
    "signal.signal(signal.SIGUSR1, lambda *event: None)": "signal handlers",
    "os._exit = print": "os._exit",
}


def test_a_test_that_leaves_something_behind_fails(tmp_path: Path) -> None:
    tests = "".join(f"def test_{number}():\n    {line}\n" for number, line in enumerate(LEFT))
    done = run_pytest(tmp_path, f"import gc, os, signal, sys, threading\n{tests}")
    reported = re.findall(r"^the test left behind:\n  (.*?): was ", done.stdout, re.MULTILINE)
    assert reported == list(LEFT.values())
    assert done.returncode == 1


def test_a_test_that_cleans_up_passes(tmp_path: Path) -> None:
    test = "def test_it(monkeypatch):\n    monkeypatch.setenv('RLPROF_RUN', 'x')\n    monkeypatch.chdir('/')\n"
    assert run_pytest(tmp_path, test).returncode == 0


MARKED = "import pytest\n@pytest.mark.browser\n@pytest.mark.skip(reason='none here')\ndef test_it(): pass\n"
WHOLE_MODULE = "import pytest\npytest.skip('none here', allow_module_level=True)\n"
NOT_BROWSER = "import pytest\n@pytest.mark.skip(reason='some other thing')\ndef test_it(): pass\n"


@pytest.mark.parametrize("test", [MARKED, WHOLE_MODULE])
def test_a_skipped_browser_test_fails_where_a_browser_is_required(tmp_path: Path, test: str) -> None:
    done = run_pytest(tmp_path, test, RLPROF_REQUIRE_BROWSER="1")
    assert done.returncode in (1, 2)
    assert "RLPROF_REQUIRE_BROWSER is set" in done.stdout


def test_a_skipped_browser_test_is_only_skipped_elsewhere(tmp_path: Path) -> None:
    assert "1 skipped" in run_pytest(tmp_path, MARKED).stdout


def test_other_tests_may_be_skipped_where_a_browser_is_required(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, NOT_BROWSER, RLPROF_REQUIRE_BROWSER="1").returncode == 0
