"""RLlib with env runners in workers, and EnvPool, whose environments are no Python: what of them is seen."""

from __future__ import annotations

from pathlib import Path

from support.installed import FOR_RLLIB, need
from support.programs import assert_ledgers_close, calls, phase_calls, processes, run_recorded, write_program

RLLIB = """
    import warnings

    warnings.simplefilter("ignore")
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig

    if __name__ == "__main__":
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        config = PPOConfig().environment("CartPole-v1")
        config = config.env_runners(num_env_runners=1, num_envs_per_env_runner=2)
        algorithm = config.training(train_batch_size=128, minibatch_size=64, num_epochs=2).build_algo()
        for _ in range(3):
            result = algorithm.train()
        print(int(result["num_env_steps_sampled_lifetime"]))
        algorithm.stop()
        ray.shutdown()
"""

ACTOR = """
    import warnings

    warnings.simplefilter("ignore")
    import gymnasium as gym
    import numpy as np
    import ray

    @ray.remote
    class Far(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (1,))
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(1), {}

        def step(self, action):
            return np.ones(1), 1.0, False, False, {}

    if __name__ == "__main__":
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
        env = Far.remote()
        ray.get(env.reset.remote())
        print(sum(ray.get(env.step.remote(0))[1] for _ in range(7)))
        ray.shutdown()
"""

ENVPOOL = """
    import envpool
    import gymnasium as gym
    import numpy as np

    pool = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=4, seed=1)
    pool.reset()
    for _ in range(20):
        pool.step(np.zeros(4, dtype=int))
    pool.close()
    pool = envpool.make("CartPole-v1", env_type="gymnasium", num_envs=4, batch_size=2, seed=1)
    pool.async_reset()
    for _ in range(10):
        *_, info = pool.recv()
        pool.send(np.zeros(2, dtype=int), info["env_id"])
    pool.close()

    class Clipped(gym.Wrapper):
        def step(self, action):
            seen, reward, *rest = self.env.step(action)
            return seen, reward.clip(-1, 1), *rest

    def pool_of(count):
        return envpool.make("CartPole-v1", env_type="gymnasium", num_envs=count, seed=1)

    for pool in (Clipped(pool_of(3)), gym.vector.VectorWrapper(pool_of(5))):
        pool.reset()
        for _ in range(7):
            pool.step(np.zeros(pool.unwrapped.config["num_envs"], dtype=int))
        pool.close()
"""


def test_rllib_with_env_runners_in_workers(tmp_path: Path) -> None:
    need(*FOR_RLLIB)
    recorded = run_recorded(write_program(tmp_path, RLLIB))
    assert recorded.code == 0, recorded.err
    report = recorded.report()
    assert_ledgers_close(report)
    found, throughput = phase_calls(report), report["throughput"]
    assert found["env.wait"] == found["advantage"] == calls(report, "train") == 3
    assert found["learn.backward"] == found["learn.optimizer"] == throughput["updates"] > 0
    assert throughput["env_steps"] == int(recorded.out.split()[-1])
    # Ray ends its workers in a hurry: the runner's last moments may be lost, but not the runner.
    runners = [child for child in processes(report) if "env.step" in phase_calls(child) and child["role"] != "main"]
    assert len(runners) == 1


def test_an_environment_that_is_an_actor_keeps_its_methods(tmp_path: Path) -> None:
    need("ray")
    recorded = run_recorded(write_program(tmp_path, ACTOR))
    assert (recorded.code, recorded.out) == (0, "7.0\n"), recorded.err


def test_envpool_is_split_into_handing_over_and_waiting(tmp_path: Path) -> None:
    need("envpool")
    recorded = run_recorded(write_program(tmp_path, ENVPOOL))
    assert recorded.code == 0, recorded.err
    report = recorded.report()
    assert_ledgers_close(report)
    found = phase_calls(report)
    wrapped = 2 * 7
    assert (found["env.step"], found["env.ipc"], found["env.reset"]) == (20 + wrapped, 20 + 10 + wrapped, 3)
    assert found["env.wait"] == 20 + 10 + wrapped + 3  # a reset waits, too
    assert (
        report["throughput"]["env_steps"] == 20 * 4 + 10 * 2 + 7 * 3 + 7 * 5
    )  # each once, whatever is around the pool
    assert report["throughput"]["episodes"] >= 4
