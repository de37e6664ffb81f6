"""Held for every test: nothing of rlprof's is left behind, and in CI no browser test is skipped."""

from __future__ import annotations

import builtins
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from hypothesis import settings

# No test asserts a time: a machine that does other things, too, would fail it by chance.
settings.register_profile("rlprof", deadline=None)
settings.load_profile("rlprof")

# A shell without job control has what it starts with `&` ignore Ctrl-C, and every program of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# --- nothing is left behind -------------------------------------------------------------------------------------------


def _rlprof_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("rlprof-")}


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key.startswith("RLPROF_") or key == "PYTHONPATH"}


def _gc_callbacks() -> list[str]:
    # Hypothesis adds one of its own on first use and keeps it.
    return [repr(hook) for hook in gc.callbacks if not str(getattr(hook, "__module__", "")).startswith("hypothesis")]


def _import_hooks() -> list[str]:
    # Other libraries add import hooks when a test first imports them, and keep them.
    hooks = [*sys.meta_path, *sys.path_hooks]
    ours = [hook for hook in hooks if "rlprof" in f"{getattr(hook, '__module__', '')} {type(hook).__module__}"]
    return [repr(hook) for hook in ours]


def _signal_handlers() -> dict[str, Any]:
    # SIGALRM is pytest-timeout's, which gives it back as soon as a test has failed.
    return {number.name: signal.getsignal(number) for number in signal.Signals if number.name != "SIGALRM"}


#: Everything in the interpreter that rlprof, or a test of it, could change: a name and how to read it.
_TRACES: dict[str, Callable[[], Any]] = {
    "rlprof's threads": _rlprof_threads,
    "environment variables (RLPROF_*, PYTHONPATH)": _environment,
    "sys.path": lambda: list(sys.path),
    "rlprof's import hooks": _import_hooks,
    "gc.callbacks": _gc_callbacks,
    "signal handlers": _signal_handlers,
    "threading.excepthook": lambda: threading.excepthook,
    "sys.excepthook": lambda: sys.excepthook,
    "sys.unraisablehook": lambda: sys.unraisablehook,
    "trace function": sys.gettrace,
    "profile function": sys.getprofile,
    "builtins.__import__": lambda: builtins.__import__,
    "builtins.__build_class__": lambda: builtins.__build_class__,
    "os.fork": lambda: getattr(os, "fork", None),
    "os._exit": lambda: os._exit,
    "subprocess.Popen": lambda: (subprocess.Popen, subprocess.Popen.__init__),
    "multiprocessing's bootstrap": lambda: (BaseProcess.start, BaseProcess.run, vars(BaseProcess)["_bootstrap"]),
}


def traces() -> dict[str, Any]:
    """The state that a test must leave as it found it."""
    return {name: read() for name, read in _TRACES.items()}


def left_behind(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """One line for each trace that differs, saying what it was and what it is."""
    return [f"{name}: {_difference(before[name], after[name])}" for name in before if before[name] != after[name]]


def _difference(was: Any, now: Any) -> str:
    if isinstance(was, dict):
        keys = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
        was, now = {key: was.get(key) for key in keys}, {key: now.get(key) for key in keys}
    return f"was {was!r}, is {now!r}"


@pytest.fixture(autouse=True)
def nothing_of_rlprof_is_left_behind() -> Iterator[None]:
    # An autouse fixture is set up before, and so taken down after, whatever else the test asks for.
    before = traces()
    yield
    changed = left_behind(before, traces())
    if changed:
        pytest.fail("the test left behind:\n  " + "\n  ".join(changed), pytrace=False)


# --- browser tests ----------------------------------------------------------------------------------------------------


def _browser_is_required() -> bool:
    return os.environ.get("RLPROF_REQUIRE_BROWSER", "") not in ("", "0")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and _browser_is_required() and item.get_closest_marker("browser"):
        report.outcome = "failed"
        report.longrepr = f"RLPROF_REQUIRE_BROWSER is set, and this browser test was skipped: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    # A module that skips itself as a whole has no test left that could carry the marker.
    if report.skipped and _browser_is_required() and "browser" in collector.path.parts:
        report.outcome = "failed"
        report.longrepr = f"RLPROF_REQUIRE_BROWSER is set, and {collector.path.name} skipped itself: {report.longrepr}"
    return report
