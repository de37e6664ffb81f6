"""The network of objects and the one of arrays are the same game, and it keeps its rules."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from support.installed import need

need("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from rlprof.demos.cyber_env import ACTIONS, BITS, KINDS, STEPS, WITH_DECOYS, CyberEnv  # noqa: E402
from rlprof.demos.cyber_network import CONTROL, DEFENDER, FOOTHOLD, HOSTS, SERVERS  # noqa: E402
from rlprof.demos.cyber_numpy import CyberVector  # noqa: E402


def action(kind: str, host: int) -> int:
    return 1 + KINDS.index(kind) * len(HOSTS) + host


def defended(env: Any, env_number: int, random: np.random.Generator, style: str) -> int:
    """What defenders of several kinds do: nothing, anything, or look after the hosts where something was seen."""
    if style == "idle":
        return 0
    if style == "wild":
        return int(random.integers(ACTIONS))
    seen = np.flatnonzero(env[env_number][: 4 * len(HOSTS)].reshape(-1, 4).any(1))
    kinds = ("analyse", "remove", "restore", "decoy")
    return action(kinds[random.integers(4)], int(random.choice(seen))) if len(seen) else 0


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 2**31),
    st.lists(st.sampled_from(["idle", "wild", "careful"]), min_size=1, max_size=4),
    st.integers(1, 230),
)
def test_both_simulators_agree_bit_by_bit(seed: int, styles: list[str], steps: int) -> None:
    plain = SyncVectorEnv([CyberEnv] * len(styles), autoreset_mode=AutoresetMode.SAME_STEP)
    quick = CyberVector(len(styles))
    random = np.random.default_rng(seed)
    observations, _ = plain.reset(seed=seed)
    assert np.array_equal(quick.reset(seed=seed)[0], observations)
    for _ in range(steps):
        actions = np.array([defended(observations, number, random, style) for number, style in enumerate(styles)])
        observations, rewards, terminated, truncated, info = plain.step(actions)
        same = quick.step(actions)
        assert np.array_equal(same[0], observations)
        assert same[0].dtype == observations.dtype
        assert same[1].tobytes() == rewards.tobytes()
        assert np.array_equal(same[2], terminated)
        assert np.array_equal(same[3], truncated)
        if truncated.any():
            assert np.array_equal(same[4]["final_obs"], np.stack(info["final_obs"]))


def test_it_passes_the_checker() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(CyberEnv(), skip_render_check=True)
    assert len(HOSTS) == 13
    assert BITS == 62


def test_seeds_of_a_vector_are_those_of_its_environments() -> None:
    vector = CyberVector(3)
    vector.reset(seed=[5, 9, 5])
    seen = [vector.step(np.zeros(3, dtype=np.int64)) for _ in range(60)]
    observations = np.array([step[0] for step in seen])
    assert np.array_equal(observations[:, 0], observations[:, 2])
    assert not np.array_equal(observations[:, 0], observations[:, 1])
    alone = CyberEnv()
    alone.reset(seed=9)
    assert np.array_equal([alone.step(0)[0] for _ in range(60)], observations[:, 1])


def test_an_undefended_plant_is_stopped_and_stays_so() -> None:
    env = CyberEnv()
    env.reset(seed=0)
    rewards = [env.step(0)[1] for _ in range(STEPS)]
    assert rewards[0] == 0.0
    assert env.network.hosts[CONTROL].is_owned()
    assert rewards[-1] <= -11.0  # the stopped plant, and its control in the attacker's hands
    assert not env.network.hosts[DEFENDER].is_held()


def test_removing_ends_a_session_and_only_restoring_ends_ownership() -> None:
    env = CyberEnv()
    env.reset(seed=0)
    host = env.network.hosts[3]
    host.open_session()
    env.defend(action("remove", 3))
    assert not host.is_held()
    host.open_session()
    host.escalate()
    env.defend(action("remove", 3))
    assert host.is_owned()
    assert env.reward(0, stopped=False) == -0.1
    env.defend(action("restore", 3))
    assert not host.is_held()
    assert env.reward(action("restore", 3), stopped=False) == -1.0


def test_an_analysis_tells_what_the_attacker_has() -> None:
    env = CyberEnv()
    env.reset(seed=0)

    def believed() -> list[int]:
        env.observe()
        env.defend(action("analyse", 6))
        return env.observe()[4 * 6 + 2 : 4 * 6 + 4].tolist()

    env.defend(action("decoy", 6))
    assert believed() == [0, 0]  # decoys are the defender's own
    env.network.hosts[6].open_session()
    assert believed() == [0, 1]
    env.network.hosts[6].escalate()
    assert believed() == [1, 1]


def test_decoys_are_set_up_once_where_they_may_be_and_go_with_a_restored_host() -> None:
    env = CyberEnv()
    env.reset(seed=0)
    for host in range(len(HOSTS)):
        for _ in range(2):
            env.defend(action("decoy", host))
    bits = env.observe()
    assert bits[4 * len(HOSTS) :].all()
    assert [host.number for host in env.network if host.has_decoys()] == list(WITH_DECOYS)
    assert [len(host.services) for host in env.network] == [
        len(services) + 3 * (number in WITH_DECOYS) for number, (_, _, services) in enumerate(HOSTS)
    ]
    env.defend(action("restore", WITH_DECOYS[0]))
    assert env.observe()[4 * len(HOSTS) :].tolist() == [0] + [1] * 9


def test_nobody_gets_the_attacker_off_its_own_host() -> None:
    env = CyberEnv()
    env.reset(seed=0)
    for kind in ("remove", "restore"):
        env.defend(action(kind, FOOTHOLD))
        assert env.network.hosts[FOOTHOLD].is_held()


def test_decoys_make_attacks_fail() -> None:
    def hosts_held(decoys: bool) -> int:
        vector = CyberVector(200)
        vector.reset(seed=0)
        vector.decoys[:, 1:5] = decoys
        for _ in range(4):
            vector.step(np.zeros(200, dtype=np.int64))
        return int((vector.access[:, 1:5] > 0).sum())

    assert 0 < hosts_held(True) < 0.7 * hosts_held(False)


def test_servers_cost_ten_times_as_much() -> None:
    env = CyberEnv()
    env.reset(seed=0)
    for number in (1, SERVERS[0]):
        env.network.hosts[number].open_session()
        env.network.hosts[number].escalate()
    assert env.reward(0, stopped=False) == -1.1
    assert env.reward(0, stopped=True) == -11.1
