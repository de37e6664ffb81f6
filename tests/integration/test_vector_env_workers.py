"""What the parent's steps consist of, against what the program itself measures in parent and workers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.installed import need
from support.programs import Json, assert_ledgers_close, run_recorded, write_program

pytestmark = pytest.mark.timed

need("gymnasium")

PROGRAMS = Path(__file__).parent / "programs"

#: library, start method, workers, steps, seconds of the first worker's step and of the others', how
CASES = {
    "sb3, one slow worker": "sb3 fork 3 150 0.006 0.002 sleep",
    "sb3, class of the script sent to a fork server": "sb3 forkserver 2 100 0.003 0.001 sleep",
    "gymnasium, one slow worker": "gym fork 3 150 0.006 0.002 sleep",
    "gymnasium, computing": "gym fork 2 150 0.003 0.001 spin",
    "gymnasium, more computing than cores": "gym fork 8 60 0.001 0.001 spin",
}


@dataclass
class Case:
    name: str
    library: str
    workers: int
    steps: int
    truth: Json
    report: Json

    @property
    def entry(self) -> Json:
        (entry,) = self.report["workers"]["vector_envs"]
        found: Json = entry
        return found


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    words = CASES[request.param].split()
    if words[0] == "sb3":
        need("stable_baselines3")
    source = (PROGRAMS / "stepping_workers.py").read_text(encoding="utf-8")
    done = run_recorded(write_program(tmp_path_factory.mktemp("workers"), source), *words)
    assert done.code == 0, done.err
    truth = json.loads(done.out.splitlines()[-1])
    return Case(request.param, words[0], int(words[2]), int(words[3]), truth, done.report())


def test_the_split_is_what_the_program_measured(case: Case) -> None:
    entry, split = case.entry, case.entry["split"]
    assert entry["steps"] == entry["steps_measured"] == case.steps
    # The program's clock reads in the workers lie a little inside ours, and those in the parent a little outside.
    # A worker may lose its core between the two.
    room = 0.05 * case.truth["total"] + 50e-6 * case.steps + 0.25 * (entry["core_wait_seconds"] or 0.0)
    found = (split["simulator_seconds"], split["straggler_seconds"], split["staggered_seconds"])
    for part, true in zip(found, case.truth["parts"], strict=True):
        assert part == pytest.approx(true, abs=room)
    assert entry["step_seconds"] == pytest.approx(case.truth["total"], abs=room)
    assert split["error_seconds"] == 0.0


def test_the_parts_add_up_to_the_parents_time_in_the_ledger(case: Case) -> None:
    assert_ledgers_close(case.report)
    split, whole = case.entry["split"], case.entry["step_seconds"]
    parts = ("simulator_seconds", "straggler_seconds", "staggered_seconds", "interprocess_seconds")
    assert sum(split[part] for part in parts) == pytest.approx(whole, rel=1e-9)
    assert min(split[part] for part in parts) >= 0
    spans = [o for o in case.report["operations"] if o["path"] in (["env.step", "env.ipc"], ["env.step", "env.wait"])]
    assert {operation["calls"] for operation in spans} == {case.steps}
    between = [
        o
        for o in case.report["operations"]
        if o["path"][:1] == ["env.step"] and len(o["path"]) == 2 and o["phase"] == "gc"
    ]
    inside = sum(o["total_seconds"] for o in spans + between)
    main = case.report["run"]["processes"][0]["id"]
    stepping = [o for o in case.report["operations"] if o["path"] == ["env.step"] and o["process"] == main]
    around = sum(o["self_seconds"] for o in stepping)
    # Between sending and waiting the parent may lose its core, which is time of the step and of neither span.
    assert inside <= 1.02 * whole + 0.01
    assert whole <= 1.02 * (inside + around) + 0.01


def test_parent_and_workers_count_the_same_steps(case: Case) -> None:
    entry = case.entry
    assert entry["env_steps"] == case.workers * case.steps == case.report["throughput"]["env_steps"]
    assert len(entry["members"]) == entry["workers"] == case.workers
    # gymnasium's workers reset instead of a step after the end of an episode, Stable-Baselines3's after one.
    assert (case.truth["resets"] == 0) == (case.library == "sb3")
    assert entry["worker_env_steps"] == entry["env_steps"]
    # All they simulated is what the mean worker did, times their number.
    simulated = sum(member["simulator_seconds"] for member in entry["members"])
    share = entry["split"]["simulator_seconds"] * case.workers
    assert simulated == pytest.approx(share, rel=0.01)


def test_the_slow_worker_is_named_and_the_others_are_idle(case: Case) -> None:
    entry = case.entry
    for member in entry["members"]:
        assert 0 <= member["idle_share"] <= 1
    assert sum(member["slowest_share"] for member in entry["members"]) == pytest.approx(1.0)
    busy = entry["split"]["simulator_seconds"] / entry["step_seconds"]
    assert entry["idle_in_step_share"] == pytest.approx(1 - busy)
    if "slow worker" in case.name:
        slow, *others = sorted(entry["members"], key=lambda member: -member["simulator_seconds"])
        assert slow["slowest_share"] > 0.8
        assert slow["idle_share"] < 0.5 < min(member["idle_share"] for member in others)


def test_workers_without_a_core_are_told_by_the_kernel(case: Case) -> None:
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("the kernel does not say")
    waited = case.entry["core_wait_seconds"]
    assert waited >= 0
    cores = case.report["run"]["cores"]
    if "more computing" in case.name and cores <= 4:
        # Two rounds of 1 ms at least for each core: in the mean a worker waits for half of the others' rounds.
        assert waited / case.steps > 0.0003


@pytest.mark.slow
def test_torchrls_workers_are_split_too(tmp_path: Path) -> None:
    need("torchrl", "tensordict")
    done = run_recorded(write_program(tmp_path, (PROGRAMS / "torchrl_workers.py").read_text(encoding="utf-8")))
    assert done.code == 0, done.err
    (entry,) = done.report()["workers"]["vector_envs"]
    assert (entry["name"], entry["workers"], entry["steps"]) == ("ParallelEnv", 2, 120)
    assert entry["worker_env_steps"] == entry["env_steps"] == 240
    split = entry["split"]
    assert split["simulator_seconds"] / 120 > 0.0039
    assert 0.001 < split["straggler_seconds"] / 120 < 0.004  # 2 ms, and what a busy machine adds
    assert entry["members"][0]["slowest_share"] > 0.8


def test_a_program_in_one_process_has_no_workers(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import gymnasium as gym
        env = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
        env.reset(seed=1)
        for _ in range(20):
            env.step(env.action_space.sample())
        """,
    )
    assert run_recorded(script).report()["workers"] is None
