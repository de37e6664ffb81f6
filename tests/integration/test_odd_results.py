"""A library's call that returns what nobody foresaw: the program gets it as it is, and hears of nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import run_bare, run_recorded, write_program


def test_a_vector_env_whose_flags_are_a_list_works_as_before(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3")
    script = write_program(
        tmp_path,
        """
        from stable_baselines3.common.vec_env import DummyVecEnv
        import gymnasium

        class Lists(DummyVecEnv):
            def step_wait(self):
                observations, rewards, dones, infos = super().step_wait()
                return observations, rewards, dones.tolist(), infos

        env = Lists([lambda: gymnasium.make("CartPole-v1")] * 2)
        env.reset()
        for _ in range(5):
            print(env.step([0, 1])[2])
        """,
    )
    recorded = run_recorded(script)
    assert (recorded.code, recorded.out) == (0, run_bare(script).out), recorded.err
    assert sum("not all counted" in line for line in recorded.own_lines) == 1
    assert recorded.report()["throughput"]["env_steps"] == 10


def test_a_vector_env_that_cannot_say_how_many_it_is_works_as_before(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    script = write_program(
        tmp_path,
        """
        import gymnasium

        class Untold(gymnasium.vector.VectorEnv):
            def step(self, actions):
                return [0.0], [1.0], [False], [False], {}

        for _ in range(3):
            print(Untold().step([0]))
        """,
    )
    recorded = run_recorded(script)
    assert (recorded.code, recorded.out) == (0, run_bare(script).out), recorded.err
    assert sum("not followed any more" in line for line in recorded.own_lines) == 1


def test_a_library_of_another_make_than_we_know_is_left_alone_and_that_is_said_once(tmp_path: Path) -> None:
    write_program(tmp_path, '__version__ = "99.1"', "pettingzoo/__init__.py")
    write_program(tmp_path, "", "pettingzoo/utils/__init__.py")
    library = """
        class ParallelEnv:
            def step(self, action):
                return action + 1
        """
    write_program(tmp_path, library, "pettingzoo/utils/env.py")  # which has no AECEnv any more
    script = write_program(
        tmp_path,
        """
        import importlib
        from pettingzoo.utils import env

        print(env.ParallelEnv().step(1), env.ParallelEnv.step.__code__.co_filename == env.__file__)
        importlib.reload(env)
        """,
    )
    recorded = run_recorded(script)
    assert (recorded.code, recorded.out) == (0, "2 True\n"), recorded.err
    (said,) = (line for line in recorded.own_lines if "not looked into" in line)
    assert "pettingzoo (99.1)" in said
