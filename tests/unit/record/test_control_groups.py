"""What control groups allow: the tightest limit of the group and those above it, in both versions of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.record.control_groups import cpu_quota, memory_limit, throttling


def tree(folder: Path, files: dict[str, str], mine: str = "0::/job/step\n") -> tuple[Path, Path]:
    for name, text in files.items():
        file = folder / "cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="ascii")
    (folder / "mine").write_text(mine, encoding="ascii")
    return folder / "cgroup", folder / "mine"


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"job/cpu.max": "400000 100000\n", "job/step/cpu.max": "max 100000\n"}, 4.0),
        ({"job/cpu.max": "400000 100000\n", "job/step/cpu.max": "50000 100000\n"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2.0),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "many\n"}, None),
        ({"cpu.max": "100 0\n"}, None),
        ({}, None),
    ],
)
def test_the_tightest_quota_counts(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    assert cpu_quota(*tree(tmp_path, files)) == quota


def test_a_group_of_version_1_is_found_by_its_controller(tmp_path: Path) -> None:
    files = {"cpu/job/cpu.cfs_quota_us": "300000\n", "cpu/job/cpu.cfs_period_us": "100000\n"}
    assert cpu_quota(*tree(tmp_path, files, "4:memory:/other\n2:cpu,cpuacct:/job\n0::/\n")) == 3.0


@pytest.mark.parametrize("mine", ["0::/../../escape\n", "what is this\n", ""])
def test_a_name_from_outside_leads_nowhere_else(tmp_path: Path, mine: str) -> None:
    assert cpu_quota(*tree(tmp_path, {"cpu.max": "150000 100000\n"}, mine)) == 1.5


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("nr_periods 5\nnr_throttled 3\nthrottled_usec 2500000\n", (3, 2.5)),
        ("nr_throttled 3\nthrottled_time 2500000000\n", (3, 2.5)),
        ("throttled_usec 2500000\n", (0, 2.5)),
        ("nr_periods 5\n", None),
        ("throttled_usec many\n", None),
    ],
)
def test_a_quota_says_how_often_and_how_long_it_held_up(
    tmp_path: Path, text: str, held: tuple[int, float] | None
) -> None:
    assert throttling(*tree(tmp_path, {"cpu.stat": text})) == held


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"memory.max": "4000000\n"}, 4_000_000),
        ({"memory.max": "max\n"}, None),
        ({"job/memory.max": "8000000\n", "job/step/memory.max": "5000000\n"}, 5_000_000),
        ({"memory/memory.limit_in_bytes": "6000000\n"}, 6_000_000),
        ({"memory/memory.limit_in_bytes": "9223372036854771712\n"}, None),
    ],
)
def test_the_tightest_limit_of_memory_counts(tmp_path: Path, files: dict[str, str], limit: int | None) -> None:
    assert memory_limit(*tree(tmp_path, files)) == limit
