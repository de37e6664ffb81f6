"""Teacher: the grid keeps its rules, the script solves it, and the schedule says when it is asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.installed import need

need("gymnasium", "torch")

import torch  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlprof.demos import teacher  # noqa: E402
from rlprof.demos.teacher_grid import (  # noqa: E402
    CRATE,
    DEPOSITED,
    DOWN,
    FEATURES,
    GATHERED,
    LEFT,
    OTHER,
    RIGHT,
    SIGHT,
    STAY,
    TO_DEPOT,
    UP,
    WALL,
    WORK,
    GatherEnv,
    GridSize,
)
from rlprof.demos.teacher_script import ScriptedTeacher  # noqa: E402

SHORT = ["--envs", "3", "--rollout", "8", "--epochs", "1", "--supervised-steps", "96", "--total-steps", "192"]


@pytest.mark.parametrize("size", [GridSize(), GridSize(cells=4, agents=1, crates=1, walls=0.0), GridSize(walls=0.4)])
def test_the_grid_passes_the_checker(size: GridSize) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(GatherEnv(size), skip_render_check=True)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.2, 0.4]))
def test_no_crate_is_lost_and_nobody_walks_through_walls(seed: int, agents: int, crates: int, walls: float) -> None:
    env = GatherEnv(GridSize(cells=7, agents=agents, crates=crates, walls=walls))
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    for _ in range(60):
        before = env.delivered
        _, reward, terminated, truncated, info = env.step(random.choice(6, agents, p=[0.1, 0.1, 0.1, 0.1, 0.1, 0.5]))
        assert env.planes[CRATE].sum() + env.carries.sum() + env.delivered == crates
        assert not env.planes[WALL][tuple(env.agents.T)].any()
        assert env.planes[OTHER].sum() == agents
        assert reward == pytest.approx(info["rewards"].sum())
        assert (info["rewards"] == DEPOSITED).sum() == env.delivered - before
        if terminated or truncated:
            assert terminated == (env.delivered == crates)
            break


def one_agent(walls: float = 0.0) -> GatherEnv:
    env = GatherEnv(GridSize(cells=5, agents=1, crates=1, walls=walls))
    env.reset(seed=0)
    env.planes[CRATE] = 0.0
    env.planes[CRATE][SIGHT, SIGHT] = 1.0
    env.agents[0] = SIGHT, SIGHT
    return env


def test_a_crate_is_gathered_carried_and_deposited() -> None:
    env = one_agent()
    depot = env.depot - SIGHT
    assert depot.any()  # it is not where the crate is
    way = [WORK] + [DOWN] * int(depot[0]) + [RIGHT] * int(depot[1]) + [WORK]
    steps = [env.step(np.array([action])) for action in way]
    assert [reward for _, reward, *_ in steps] == [GATHERED] + [0.0] * (len(way) - 2) + [DEPOSITED]
    assert [terminated for _, _, terminated, *_ in steps] == [False] * (len(way) - 1) + [True]
    assert steps[-1][0][0, TO_DEPOT : TO_DEPOT + 2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("action", [UP, LEFT])
def test_the_edge_of_the_grid_is_a_wall(action: int) -> None:
    env = one_agent()
    env.step(np.array([action]))
    assert env.agents.tolist() == [[SIGHT, SIGHT]]


def test_the_teacher_delivers_every_crate_and_chance_hardly_any() -> None:
    env, script, random = GatherEnv(), ScriptedTeacher(GridSize().cells), np.random.default_rng(0)
    delivered = {"script": 0, "chance": 0}
    for who in delivered:
        for seed in range(10):
            observation, _ = env.reset(seed=seed)
            ended = False
            while not ended:
                action = [script.act(row) for row in observation] if who == "script" else random.integers(6, size=4)
                observation, _, terminated, truncated, info = env.step(np.array(action))
                ended = terminated or truncated
            delivered[who] += info["delivered"]
    assert delivered["script"] == 10 * GridSize().crates
    assert delivered["chance"] < 10


def test_the_teacher_goes_around_a_wall() -> None:
    env = one_agent()
    env.planes[CRATE] = 0.0
    env.planes[CRATE][SIGHT, SIGHT + 2] = 1.0
    env.planes[WALL][SIGHT, SIGHT + 1] = 1.0
    script, moves = ScriptedTeacher(5), []
    for _ in range(5):
        moves.append(script.act(env._observe()[0]))
        env.step(np.array(moves[-1:]))
    assert moves == [DOWN, RIGHT, RIGHT, UP, WORK]


def test_a_teacher_with_nothing_to_fetch_stays() -> None:
    env = one_agent()
    env.planes[CRATE] = 0.0
    assert ScriptedTeacher(5).act(env._observe()[0]) == STAY


def test_labels_are_those_of_each_agent_in_its_place() -> None:
    env, script = GatherEnv(), ScriptedTeacher(GridSize().cells)
    seen = np.stack([env.reset(seed=seed)[0] for seed in range(3)])
    labels = teacher.ask_teacher(script, torch.from_numpy(seen))
    assert labels.tolist() == [[script.act(row) for row in rows] for rows in seen]
    assert len(set(labels.flatten().tolist())) > 2


def train(*words: str) -> list[int]:
    before = torch.get_num_threads()
    try:
        return teacher.train(teacher.parse([*SHORT, *words]))
    finally:
        torch.set_num_threads(before)


def test_a_seed_makes_a_run_repeatable(capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--total-steps", "960", "--crates", "20"]
    printed = []
    for seed in ("0", "0", "1"):
        train(*more, "--seed", seed)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2]


def test_the_teacher_is_asked_in_the_first_phase_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    learn = teacher.Learner.learn

    def note(self: teacher.Learner, rollout: teacher.Rollout, last: torch.Tensor, *, supervised: bool) -> None:
        assert bool((rollout.labels >= 0).all()) == supervised
        asked.append(supervised)
        learn(self, rollout, last, supervised=supervised)

    monkeypatch.setattr(teacher.Learner, "learn", note)
    train()
    assert asked == [True] * 4 + [False] * 4


def test_it_can_be_asked_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    ask = teacher.ask_teacher
    monkeypatch.setattr(teacher, "ask_teacher", lambda *them: asked.append(1) or ask(*them))
    train("--label-every", "4", "--supervised-steps", "192")
    assert len(asked) == 8 * 2


def test_steps_about_which_the_teacher_was_not_asked_teach_nothing() -> None:
    policy = teacher.Categorical(logits=torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]))
    alone = teacher.Categorical(logits=torch.tensor([[0.0, 3.0]]))
    some = teacher.imitation_loss(policy, torch.tensor([-1, 1, -1]))
    assert torch.equal(some, teacher.imitation_loss(alone, torch.tensor([1])))
    assert teacher.imitation_loss(policy, torch.tensor([-1, -1, -1])).item() == 0.0


def test_a_step_in_which_an_environment_only_began_anew_does_not_count() -> None:
    options = teacher.parse(["--envs", "2", "--rollout", "130"])
    student, rollout = teacher.Student(8), teacher.Rollout.empty(options)
    collector = teacher.Collector(teacher.make_envs(options), student, rollout, options)
    collector.collect(None)
    assert rollout.ends[:, :, 0].nonzero()[:, 0].tolist() == [59, 59, 120, 120]
    assert torch.equal(rollout.counts[1:], 1.0 - rollout.ends[:-1])
    assert rollout.rewards[rollout.counts == 0].eq(0.0).all()
    assert len(collector.delivered) == 4
    learner, seen = teacher.Learner(student, options), []
    student.register_forward_hook(lambda module, inputs, output: seen.append(len(inputs[0])))
    learner.learn(rollout, torch.zeros(2, 4), supervised=False)
    assert sum(seen) == options.epochs * int(rollout.counts.sum())


def test_advantages_stop_at_the_end_of_an_episode() -> None:
    options = teacher.parse(["--envs", "1", "--agents", "1", "--rollout", "3"])
    rollout = teacher.Rollout.empty(options)
    rollout.rewards[:, 0, 0] = torch.tensor([1.0, 2.0, 4.0])
    rollout.values[:, 0, 0] = torch.tensor([0.5, 0.25, 0.125])
    rollout.ends[1] = 1.0
    found = teacher.advantages_of(rollout, torch.tensor([[8.0]])).flatten().tolist()
    last = 4.0 + teacher.GAMMA * 8.0 - 0.125
    middle = 2.0 - 0.25
    first = 1.0 + teacher.GAMMA * 0.25 - 0.5 + teacher.GAMMA * teacher.LAMBDA * middle
    assert found == pytest.approx([first, middle, last])


def test_what_a_rollout_holds_has_the_shape_of_steps_environments_and_agents() -> None:
    rollout = teacher.Rollout.empty(teacher.parse(["--envs", "2", "--agents", "3", "--rollout", "5"]))
    assert rollout.observations.shape == (5, 2, 3, FEATURES)
    assert {column.shape for name, column in vars(rollout).items() if name != "observations"} == {(5, 2, 3)}
