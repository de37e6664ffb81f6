"""Who goes first, and who else was using the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.experiments.load import Moment, now, other_share
from rlprof.experiments.one_at_a_time import lock_file, turn_of_this_trial
from rlprof.experiments.schedule import order_of_pair


@given(st.integers(0, 2**31), st.integers(1, 50))
def test_each_side_goes_first_as_often_as_the_other(seed: int, twos: int) -> None:
    firsts = [order_of_pair(seed, pair)[0] for pair in range(2 * twos)]
    assert firsts.count("a") == firsts.count("b") == twos


@given(st.integers(0, 2**31), st.integers(0, 100))
def test_a_pair_holds_both_sides_and_the_same_seed_gives_the_same_order(seed: int, pair: int) -> None:
    assert set(order_of_pair(seed, pair)) == {"a", "b"}
    assert order_of_pair(seed, pair) == order_of_pair(seed, pair)


def test_the_order_is_chance() -> None:
    assert len({order_of_pair(seed, 0) for seed in range(40)}) == 2


def test_what_others_used_is_the_machines_time_less_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert other_share(Moment(0, 100.0, 5.0), Moment(10, 130.0, 15.0)) == pytest.approx(0.5)
    assert other_share(Moment(0, 100.0, 5.0), Moment(10, 109.0, 15.0)) == 0.0
    assert other_share(Moment(0, None, 5.0), Moment(10, 130.0, 15.0)) is None
    assert other_share(Moment(3, 1.0, 1.0), Moment(3, 1.0, 1.0)) is None


def test_the_clocks_can_be_read_here() -> None:
    assert now().clock <= now().clock


@pytest.mark.skipif(sys.platform == "win32", reason="there is no flock")
def test_trials_of_two_experiments_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = f"import fcntl; fcntl.flock(open({str(lock_file())!r}), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    with turn_of_this_trial():
        other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "BlockingIOError" in other.stderr
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
