"""The demo programs are repeatable, are seen into without a change in them, and learn."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.installed import need
from support.programs import RLPROF, Json, Outcome, assert_ledgers_close, calls, operations, read_report, run

need("gymnasium", "tensordict", "torchrl")

PETRI = ("--frames-per-batch", "256", "--epochs", "1", "--seed", "3")
CYBER = ("--steps", "400", "--batch", "100", "--minibatch", "50")
TEACHER = ("--envs", "4", "--rollout", "8", "--epochs", "1", "--supervised-steps", "640", "--total-steps", "1280")
SNAKE = ("--envs", "16", "--episodes", "40", "--train-steps", "2", "--size", "6")


def bare(folder: Path, name: str, *knobs: str) -> list[str]:
    done = run([sys.executable, "-m", f"rlprof.demos.{name}", *knobs], folder)
    assert done.code == 0, done.err
    return done.out.splitlines()


def demo(folder: Path, name: str, *words: str) -> list[str]:
    done = run([sys.executable, "-m", "rlprof", "demo", name, "--out", "found.rlprof", *words], folder)
    assert done.code == 0, done.err
    return done.out.splitlines()


#: Training with the plain engine, then with one that changes before every batch.
OTHER_ENGINES = """
import sys
from rlprof.demos import petri
petri.train(petri.parse([*sys.argv[1:], "--no-turbo"]))
petri.train(petri.parse(sys.argv[1:]), before_batch=lambda number, env: env.use_engine(number % 2 == 0))
"""


def test_petri_prints_the_same_returns_with_any_engine_recorded_or_not_and_is_broken_down(tmp_path: Path) -> None:
    lines = demo(tmp_path, "petri", "--breakdown", "--batches", "3", *PETRI)
    returns = [line for line in lines if line.startswith("batch ")]
    assert len(returns) == 3
    others = run([sys.executable, "-c", OTHER_ENGINES, "--batches", "3", *PETRI], tmp_path)
    assert others.out.splitlines() == returns * 2, others.err
    at = [
        next(number for number, line in enumerate(lines) if line.strip().startswith(part))
        for part in (
            "data collection",
            "of which env step",
            "of which policy forward",
            "of which TensorDict operations",
            "of which env reset",
            "GAE",
            "replay buffer",
            "training loop",
            "of which loss",
            "of which backward",
            "of which optimizer",
        )
    ]
    assert at == sorted(at)
    report = read_report(tmp_path / "found.rlprof")
    assert_ledgers_close(report)
    assert ["collect", "env.step", "PetriEnv"] in [entry["path"] for entry in operations(report, "PetriEnv")]
    assert report["throughput"]["env_steps"] == 3 * 256


def assert_suspects(lines: list[str]) -> None:
    """Each has its line in the source, its cost and its knob; one that took no time in so short a run has no row."""
    at = next(number for number, line in enumerate(lines) if line.startswith("Suspects  "))
    rows = [line.rstrip() for line in lines[at + 3 :] if "--" in line]
    cures = {"--flood-fill vectorised", "--train-steps 4", "--push batched", "--log none"}
    assert {row[row.index("--") :] for row in rows} <= cures
    assert any(row.startswith("search    snake_flood.py:") for row in rows)
    assert all(row.split()[-3].endswith("x") and "%" in row for row in rows)


@pytest.fixture(scope="module")
def snake(tmp_path_factory: pytest.TempPathFactory) -> Json:
    folder = tmp_path_factory.mktemp("snake")
    lines = demo(folder, "snake", *SNAKE)
    scores = [line for line in lines if "mean score" in line]
    assert [line for line in bare(folder, "snake", *SNAKE) if "mean score" in line] == scores
    assert any("Where the time went" in line for line in lines)
    assert_suspects(lines)
    return read_report(folder / "found.rlprof")


def test_snake_is_seen_as_a_users_program(snake: Json) -> None:
    steps = snake["throughput"]["env_steps"]
    assert steps % 16 == 0
    assert snake["throughput"]["episodes"] >= 40
    assert {entry["role"] for entry in snake["inferred"]} == {"buffer"}
    assert calls(snake, "buffer.sample") == snake["throughput"]["updates"] - 1  # the first one confirms the guess
    assert calls(snake, "logging") >= steps


def test_the_slow_lines_of_snake_are_named(snake: Json) -> None:
    source = Path(__file__).parents[2] / "src" / "rlprof" / "demos" / "snake.py"
    lines = [line.strip() for line in source.read_text().splitlines()]
    number = lines.index("step.rewards[game].item(),") + 1
    assert calls(snake, f".item() snake.py:{number}") == snake["throughput"]["env_steps"]


@pytest.mark.slow
def test_petri_compares_its_engines_in_turns_and_says_what_one_can_bring_at_most(tmp_path: Path) -> None:
    lines = demo(tmp_path, "petri", "--compare", "--batches", "2", *PETRI, "--frames-per-batch", "1280")
    assert "rlprof compare  2 pairs of batches in one run" in lines
    assert "Cannot tell" in lines  # two pairs are too few for a verdict, whatever they say
    at = lines.index(next(line for line in lines if line.startswith("component ")))
    components = {line[:18].strip() for line in lines[at + 2 : lines.index("", at)]}
    assert {"env step", "policy forward", "GAE", "loss", "backward", "optimizer", "env reset"} <= components
    bound = lines[lines.index("What a faster env step can bring") + 1 :]
    alone, share, most, free, measured = (line.split("  ") for line in bound[:5])
    faster, part = (float(next(cell for cell in row[2:] if cell.strip()).strip(" x%")) for row in (alone, share))
    expected, without = (float(next(cell for cell in row[2:] if cell.strip()).strip(" x")) for row in (most, free))
    assert faster > 1.5
    assert 1 < expected < without
    assert expected == pytest.approx(1 / (1 - part / 100 + part / 100 / faster), abs=0.01)
    assert measured[1] == "training, measured"
    (report,) = [line.split()[-1] for line in lines if line.startswith("Recording  ")]
    assert_ledgers_close(read_report(tmp_path / report))


@pytest.fixture(scope="module")
def cyber(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[int, Json]]:
    """What the table of one environment and three says, and the reports of both."""
    folder = tmp_path_factory.mktemp("cyber")
    lines = demo(folder, "cyber", "--table", "3", *CYBER)
    return lines, {envs: read_report(folder / f"found-{envs}.rlprof") for envs in (1, 3)}


def test_cyber_prints_the_same_returns_recorded_or_not_and_with_any_simulator(
    cyber: tuple[list[str], dict[int, Json]], tmp_path: Path
) -> None:
    returns = [line for line in cyber[0] if "mean return" in line]
    numpy = [bare(tmp_path, "cyber", "--simulator", "numpy", "--envs", envs, *CYBER) for envs in ("1", "3")]
    assert returns == [line for lines in numpy for line in lines if "mean return" in line]
    assert len(returns) > 4


def test_the_table_of_cyber_holds_one_environment_against_processes(cyber: tuple[list[str], dict[int, Json]]) -> None:
    lines = cyber[0]
    at = [
        next(number for number, line in enumerate(lines) if line.strip().startswith(part))
        for part in (
            "sampling  ", "training  ", "sampling : training", "transitions per second", "action selection",
            "environment step", "of which reward", "buffer storage", "simulator", "slowest worker", "staggered",
            "inter-process",
        )
    ]  # fmt: skip
    assert at == sorted(at)
    transitions = next(line for line in lines if line.startswith("transitions  ")).split()
    assert transitions[1:] == ["400", "495"]  # whole batches of 33 steps of three environments
    assert all("-" not in lines[at[number]].split() for number in (0, 1, 2, 3, 4, 5, 7))


def test_the_workers_of_cyber_are_seen(cyber: tuple[list[str], dict[int, Json]]) -> None:
    alone, many = cyber[1][1], cyber[1][3]
    assert_ledgers_close(alone)
    assert_ledgers_close(many)
    assert calls(alone, "CyberEnv.reward") == alone["throughput"]["env_steps"] == 400
    assert calls(many, "CyberEnv.reward") == many["throughput"]["env_steps"] == 495
    (vector_env,) = many["workers"]["vector_envs"]
    assert (vector_env["workers"], vector_env["worker_env_steps"]) == (3, 495)
    assert alone["workers"] is None
    assert {entry["role"] for entry in alone["inferred"]} >= {"buffer", "advantage", "policy"}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Json]:
    folder = tmp_path_factory.mktemp("teacher")
    words = [*RLPROF, "demo", "teacher", "--out", "found.rlprof", "--rollouts-every", "5", *TEACHER]
    done = run(words, folder)
    assert done.code == 0, done.err
    said = [line for line in done.out.splitlines() if " steps, supervised: " in line or " steps, ppo: " in line]
    assert len(said) == 10
    assert bare(folder, "teacher", *TEACHER) == said
    return done, read_report(folder / "found.rlprof")


def test_the_ranges_that_teacher_marks_are_its_operations(teacher: tuple[Outcome, Json]) -> None:
    _, report = teacher
    assert_ledgers_close(report)
    assert report["throughput"]["env_steps"] == 1280
    paths = {tuple(entry["path"]): entry["calls"] for entry in report["operations"]}
    assert paths["supervised", "rollout"] == paths["ppo", "rollout"] == 20
    for part in ("reshape", "device to host", "agent calls", "stack and back"):
        assert paths["supervised", "rollout", "teacher", part] == 20 * 8
    assert ("ppo", "rollout", "teacher") not in paths


@pytest.mark.slow
def test_teacher_is_traced_for_some_iterations_and_its_table_is_of_the_others(tmp_path: Path) -> None:
    lines = demo(tmp_path, "teacher", "--rollouts-every", "0", "--torch-trace", "wait=1,warmup=1,active=2", *TEACHER)
    report = read_report(tmp_path / "found.rlprof")
    assert_ledgers_close(report)
    assert (tmp_path / "found.torch-0.json.gz").exists()
    assert [(window["iterations"], window["apart"]) for window in report["windows"]] == [(3, True)]
    by_phase = {entry["phase"]: {each["name"] for each in entry["operators"]} for entry in report["operators"]}
    assert "aten::addmm" in by_phase["policy.forward"]
    assert "aten::mm" in by_phase["learn.backward"]
    assert any(line.startswith("torch.profiler: 3 iterations") for line in lines)
    supervised = next(line for line in lines if line.startswith("supervised rollouts"))
    assert supervised.startswith("supervised rollouts 1 to 17,")
    assert sum(" steps, supervised: " in line or " steps, ppo: " in line for line in lines) == 10


def test_the_rollout_tree_is_shown_while_teacher_runs_and_for_each_phase_at_the_end(
    teacher: tuple[Outcome, Json],
) -> None:
    done, _ = teacher
    live = [line for line in done.err.splitlines() if line.endswith("mean ms")]
    assert live
    assert live[0].startswith("supervised rollouts 1 to ")
    shown = done.out[done.out.index("supervised rollouts 1 to 20") :].splitlines()
    assert any(line.startswith("ppo rollouts 1 to 20") for line in shown)
    names = [line[2:26].rstrip() for line in shown]
    assert names[1 : names.index("")] == [
        "rollout",
        "  student forward",
        "  teacher",
        "    reshape",
        "    device to host",
        "    agent calls",
        "    stack and back",
        "  env step",
        "  replay store",
        "  everything else",
    ]
    milliseconds = {line[2:26].strip(): float(line[26:36]) for line in shown[1 : names.index("")]}
    inside = ("reshape", "device to host", "agent calls", "stack and back")
    assert sum(milliseconds[name] for name in inside) <= milliseconds["teacher"] <= milliseconds["rollout"]
    speeds = [line.split()[:2] for line in shown[-2:]]
    assert speeds == [["supervised", "cpu"], ["ppo", "cpu"]]


ROBOTS = ("--timesteps", "128", "--envs", "2", "--n-steps", "32", "--batch", "32", "--epochs", "1")
#: What demos of annotations show by name, below what each of them is found.
ROBOTS_OPERATIONS = {
    "rgb observation generation": "env.step",
    "rendering": "rgb observation generation",
    "resizing": "rgb observation generation",
    "draw grid": "rendering",
    "draw walls": "rendering",
    "draw robots": "rendering",
    "draw target": "rendering",
    "forward pass": "policy forward",
    "boundary padding": "forward pass",
    "conv encoder": "forward pass",
    "skip connection": "forward pass",
    "ConvLSTM layers": "forward pass",
    "global pooling": "forward pass",
    "projection": "forward pass",
    "policy forward": "data collection",
    "hidden states": "policy forward",
    "action and value": "policy forward",
    "action distribution": "action and value",
    "sampling": "action and value",
    "data collection": "total",
    "model update": "total",
}


@pytest.mark.slow
def test_robots_is_timed_by_name_and_by_category_and_summed_up_while_it_trains(tmp_path: Path) -> None:
    need("sb3_contrib", "PIL", "matplotlib")
    files = ("--charts", "robots.png", "--json", "robots.json", "--text", "robots.txt")
    done = run([*RLPROF, "demo", "robots", "--out", "found.rlprof", "--summary-every", "50", *files, *ROBOTS], tmp_path)
    assert done.code == 0, done.err
    said = [line for line in done.out.splitlines() if "games solved" in line]
    assert len(said) == 10
    assert bare(tmp_path, "robots", *ROBOTS) == said
    # How many steps are in the recording at the first look depends on how quickly they come, but 50 were asked for.
    summed_up = [int(line.split(" env steps")[0].split()[-1]) for line in done.err.splitlines() if " env steps" in line]
    assert summed_up
    assert 50 <= summed_up[0] <= summed_up[-1] <= 128
    shown = done.out.splitlines()
    at = next(number for number, line in enumerate(shown) if line.startswith("Operations by name"))
    by_name = [line[: line.index("  ")] for line in shown[at + 3 : shown.index("", at)]]
    assert sorted(by_name) == sorted([*ROBOTS_OPERATIONS, "total"])
    assert [line.split()[0] for line in shown[-6:-1]] == ["environment", "rendering", "model", "policy", "training"]
    assert all(0.0 < float(line.split()[3].rstrip("%")) < 100.0 for line in shown[-6:-1])
    report = read_report(tmp_path / "found.rlprof")
    assert_ledgers_close(report)
    for name, around in ROBOTS_OPERATIONS.items():
        assert any(around in entry["path"] for entry in operations(report, name)), name
    assert calls(report, "model update") == calls(report, "data collection") == 2
    update = operations(report, "model update")[0]
    assert update["memory_exact"]
    drawn = sum(entry["calls"] for entry in operations(report, "rendering"))
    assert drawn >= report["throughput"]["env_steps"] == 128
    assert json.loads((tmp_path / "robots.json").read_text(encoding="utf-8"))["operations"] == report["operations"]
    assert "ConvLSTM layers" in (tmp_path / "robots.txt").read_text(encoding="utf-8")
    assert (tmp_path / "robots.png").read_bytes().startswith(b"\x89PNG")


RANDOM_ROBOTS = """
import numpy as np
from rlprof.demos.robots_board import RobotsEnv
env, random, solved = RobotsEnv(obs_mode="vector"), np.random.default_rng(0), []
for game in range(400):
    env.reset(seed=game)
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(int(random.integers(8)))
        ended = terminated or truncated
    solved.append(info["solved"])
print(sum(solved) / len(solved))
"""
RANDOM_TEACHER = """
import numpy as np
from rlprof.demos.teacher_grid import GatherEnv
env, random, delivered = GatherEnv(), np.random.default_rng(0), []
for episode in range(50):
    env.reset(seed=episode)
    ended = False
    while not ended:
        _, _, terminated, truncated, info = env.step(random.integers(6, size=4))
        ended = terminated or truncated
    delivered.append(info["delivered"])
print(sum(delivered) / len(delivered))
"""
RANDOM_PETRI = """
import sys
import numpy as np
from rlprof.demos import petri
options = petri.parse(sys.argv[1:])
env, random, returns = petri.make_env(options), np.random.default_rng(0), []
for episode in range(100):
    observation, _ = env.reset(seed=episode)
    total, ended = 0.0, False
    while not ended:
        action = int(random.choice(np.flatnonzero(observation["action_mask"])))
        observation, reward, terminated, truncated, _ = env.step(action)
        total, ended = total + reward, terminated or truncated
    returns.append(total)
print(sum(returns) / len(returns))
"""
RANDOM_SNAKE = """
import torch
from rlprof.demos.snake_board import SnakeBoard
torch.manual_seed(0)
board, scores = SnakeBoard(256), []
board.reset(seed=0)
while len(scores) < 500:
    _, _, terminated, truncated, info = board.step(torch.randint(3, (256,)))
    scores += info["scores"][terminated | truncated].tolist()
print(sum(scores) / len(scores))
"""

RANDOM_CYBER = """
import numpy as np
from rlprof.demos.cyber_numpy import CyberVector
envs, random, total = CyberVector(200), np.random.default_rng(0), 0.0
envs.reset(seed=0)
for _ in range(100):
    total += envs.step(random.integers(53, size=200))[1].sum()
print(total / 200)
"""


def printed(program: str, *words: str) -> float:
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1"])
def test_petri_beats_a_random_policy(tmp_path: Path, seed: str) -> None:
    words = [sys.executable, "-m", "rlprof.demos.petri", "--batches", "20", "--seed", seed]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    last = [float(line.split()[-1]) for line in done.stdout.splitlines()[-5:]]
    # Both are about -2 at first; no schedule of these cells gets above 0.
    assert sum(last) / len(last) > printed(RANDOM_PETRI, "--seed", seed) + 0.7


@pytest.mark.slow
def test_snake_beats_a_random_policy(tmp_path: Path) -> None:
    cures = ["--push", "batched", "--flood-fill", "vectorised", "--train-steps", "4", "--log", "none"]
    words = [sys.executable, "-m", "rlprof.demos.snake", "--episodes", "1000", *cures]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600, cwd=tmp_path)
    (last,) = [line for line in done.stdout.splitlines() if line.startswith("100%")]
    assert float(last.split()[-1]) > printed(RANDOM_SNAKE) + 10


@pytest.mark.slow
def test_cyber_beats_a_random_policy(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "rlprof.demos.cyber", "--simulator", "numpy", "--envs", "200", "--episodes", "2000"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600, cwd=tmp_path)
    (last,) = [line for line in done.stdout.splitlines() if line.startswith("100%")]
    # A network that nobody defends comes to about -980.
    assert float(last.split()[-1]) > printed(RANDOM_CYBER) + 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1"])
def test_teacher_beats_a_random_policy_and_goes_on_learning_without_the_teacher(seed: str) -> None:
    words = [sys.executable, "-m", "rlprof.demos.teacher", "--seed", seed]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    lines = [line for line in done.stdout.splitlines() if " crates, " in line]
    taught = [float(line.split(": ")[1].split()[0]) for line in lines if "supervised" in line][-1]
    last = float(lines[-1].split(": ")[1].split()[0])
    assert taught > printed(RANDOM_TEACHER) + 1
    assert last > taught + 1


@pytest.mark.slow
def test_robots_beats_a_random_policy() -> None:
    need("sb3_contrib", "PIL")
    words = [sys.executable, "-m", "rlprof.demos.robots", "--obs-mode", "vector", "--timesteps", "20480"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
    (last,) = [line for line in done.stdout.splitlines() if line.startswith("20480 steps")]
    solved, games = int(last.split()[2]), int(last.split()[4])
    assert solved / games > printed(RANDOM_ROBOTS) + 0.25
