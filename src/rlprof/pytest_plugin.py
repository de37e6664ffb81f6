"""A pytest plugin: the fixture `rlprof` records a test's training and holds it against a stored baseline.

pytest loads this module in every project that has rlprof installed, so it imports nothing before a test asks for it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

UPDATE: Final = "--rlprof-update"
DIRECTORY: Final = "--rlprof-baselines"
DEFAULT_DIRECTORY: Final = "rlprof-baselines"
RUNS: Final = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rlprof")
    group.addoption(UPDATE, action="store_true", help="store what is recorded as the new baselines")
    group.addoption(DIRECTORY, default=None, metavar="DIR", help=f"where baselines are kept [{DEFAULT_DIRECTORY}]")


class RlprofFixture:
    """What a test gets as `rlprof`."""

    def __init__(self, baseline: Path, scratch: Path, update: bool) -> None:
        self.baseline = baseline
        self._scratch = scratch
        self._update = update

    def check(
        self,
        train: Callable[[], Any],
        *,
        runs: int = RUNS,
        max_slowdown: float = 0.05,
        max_memory_growth: float = 0.10,
        probes: bool = True,
    ) -> str:
        """Run `train` several times, recorded; fail if it is proven to be slower than the baseline.

        Without a baseline, or with --rlprof-update, what was recorded becomes the baseline. Gives the comparison as
        Markdown; an empty text where there was nothing to compare with.
        """
        recorded = [self._record(train, number, probes) for number in range(runs)]
        stored = sorted(self.baseline.glob("*.rlprof")) if self.baseline.is_dir() else []
        if self._update or not stored:
            self._store(recorded)
            return ""
        return self._compare(stored, recorded, max_slowdown, max_memory_growth)

    def _record(self, train: Callable[[], Any], number: int, probes: bool) -> Path:
        from rlprof.profiler import get_profiler

        target = self._scratch / f"{number:03d}.rlprof"
        profiler = get_profiler()
        profiler.start(target, probes=probes, overwrite=True)
        try:
            train()
        finally:
            written = profiler.stop()
        if written is None:
            raise RuntimeError("rlprof is recording this process already: the fixture cannot record a test inside it")
        return written

    def _store(self, recorded: list[Path]) -> None:
        shutil.rmtree(self.baseline, ignore_errors=True)
        self.baseline.mkdir(parents=True)
        for recording in recorded:
            shutil.copyfile(recording, self.baseline / recording.name)

    def _compare(self, stored: list[Path], recorded: list[Path], slowdown: float, memory: float) -> str:
        from rlprof.experiments.compare import Circumstances, Incomparable
        from rlprof.experiments.recorded_pairs import match
        from rlprof.experiments.regression import Allowed, regressions_of
        from rlprof.recording import open_recording
        from rlprof.render.comparison_markdown import render_comparison_markdown

        sides = [[open_recording(path) for path in paths] for paths in (stored, recorded)]
        try:
            matched = match(sides[0], sides[1], ("baseline", "this run"), Circumstances())
        except Incomparable as error:
            pytest.skip(f"{error} (here: pytest {UPDATE} stores a baseline of this machine)")
        regressions = [found.text() for found in regressions_of(matched.pairs, Allowed(slowdown, memory))]
        said: str = render_comparison_markdown(matched.compare(), regressions)
        if regressions:
            pytest.fail(said, pytrace=False)
        return said


@pytest.fixture
def rlprof(request: pytest.FixtureRequest, tmp_path: Path) -> RlprofFixture:
    """Records the training in a test and compares it with a stored baseline: `rlprof.check(train)`."""
    chosen = request.config.getoption(DIRECTORY)
    folder = Path(chosen) if chosen else request.config.rootpath / DEFAULT_DIRECTORY
    name = re.sub(r"[^\w.-]+", "-", request.node.nodeid).strip("-.")[-150:]
    return RlprofFixture(folder / name, tmp_path / "rlprof", request.config.getoption(UPDATE))
