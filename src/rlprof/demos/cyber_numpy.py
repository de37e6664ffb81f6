"""The network of cyber_env.py, many at once in NumPy arrays: what an environment is in, is a row instead of objects.

With the same seeds and actions it gives the same observations, rewards and ends, bit by bit: an environment draws its
random numbers from a generator of its own, in the same order, and whether a step needs them or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .cyber_env import (
    ACTIONS,
    BITS,
    CLEAN,
    DRAWS,
    EXPLOIT,
    FALSE_ALARM,
    KINDS,
    OWNED,
    OWNED_SERVER,
    QUIET,
    RESTORED,
    ROOT,
    SCAN,
    STEPS,
    STOPPED,
    UNKNOWN,
    USER,
    WITH_DECOYS,
)
from .cyber_network import CONTROL, DECOYS, DEFENDER, EXPLOITS, FOOTHOLD, HOSTS, NO_DECOYS, SERVERS, SUBNETS
from .cyber_red import EAGER, ESCALATES, EXPLOIT_SEEN, SCAN_SEEN

Bits = NDArray[np.int8]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: What the attacker has on a host.
NOTHING, SESSION, OWNS = range(3)
BELIEVED = np.array([CLEAN, USER, ROOT], dtype=np.int8)  # once it was analysed
ANALYSE, REMOVE, RESTORE, DECOY = range(len(KINDS))

NUMBERS = np.arange(len(HOSTS))
SUBNET_OF = np.array([subnet for _, subnet, _ in HOSTS])
#: By subnet: the hosts that are attacked there.
TARGETS = (np.arange(len(SUBNETS))[:, None] == SUBNET_OF) & ~np.isin(NUMBERS, (FOOTHOLD, DEFENDER))
MAY_HAVE_DECOYS = ~np.isin(NUMBERS, NO_DECOYS)
COSTS = np.where(np.isin(NUMBERS, SERVERS), OWNED_SERVER, OWNED)
SERVICES = np.array([len(services) for _, _, services in HOSTS])
#: By host and service, how likely an exploit succeeds; a decoy's never does.
SUCCEEDS = np.zeros((len(HOSTS), SERVICES.max() + len(DECOYS)))
for _host, _services in enumerate(services for _, _, services in HOSTS):
    SUCCEEDS[_host, : len(_services)] = [EXPLOITS[service] for service in _services]


def nth(mask: Bools, share: Floats) -> Ints:
    """In each row the column of one of the true values: the one that lies at this share of them."""
    number = (share * mask.sum(1)).astype(np.int64)
    column: Ints = (mask.cumsum(1) > number[:, None]).argmax(1)
    return column


class CyberVector(VectorEnv[Bits, Ints, Floats]):  # type: ignore[misc]
    """An episode that ends begins anew in the same step; `info["final_obs"]` is what all looked like before."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as in gymnasium

    def __init__(self, envs: int) -> None:
        self.num_envs = envs
        self.single_observation_space = spaces.MultiBinary(BITS)
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, envs)
        self.action_space = batch_space(self.single_action_space, envs)
        self.generators = [np_random()[0] for _ in range(envs)]
        self.everyone = np.arange(envs)
        self.chances = np.zeros((envs, STEPS, DRAWS))
        self.now = np.zeros(envs, dtype=np.int64)
        self.access, self.beliefs = np.zeros((2, envs, len(HOSTS)), dtype=np.int8)
        self.scanned, self.decoys = np.zeros((2, envs, len(HOSTS)), dtype=np.bool_)
        self.swept = np.zeros((envs, len(SUBNETS)), dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        if seed is not None:
            seeds = [seed + number for number in range(self.num_envs)] if isinstance(seed, int) else seed
            self.generators = [np_random(each)[0] for each in seeds]
        self._begin(self.everyone)
        return self._observe(np.zeros_like(self.access)), {}

    def _begin(self, envs: Ints) -> None:
        for env in envs.tolist():
            self.chances[env] = self.generators[env].random((STEPS, DRAWS))
        self.now[envs] = 0
        self.access[envs] = NOTHING
        self.access[envs, FOOTHOLD] = SESSION
        self.beliefs[envs] = CLEAN
        self.scanned[envs] = False
        self.decoys[envs] = False
        self.swept[envs] = False

    def step(self, actions: Ints) -> tuple[Bits, Floats, Bools, Bools, dict[str, Any]]:
        chances = self.chances[self.everyone, self.now].T
        self.now += 1
        restored = self._defend(np.asarray(actions))
        activity = np.full_like(self.access, QUIET)
        self._alarm(activity, chances)
        stopped = self.access[:, CONTROL] == OWNS
        self._attack(activity, chances, ~stopped)
        costs = (self.access == OWNS) @ COSTS + STOPPED * stopped + RESTORED * restored
        observations = self._observe(activity)
        terminated, truncated = np.zeros(self.num_envs, dtype=np.bool_), self.now == STEPS
        info: dict[str, Any] = {}
        if truncated.any():
            info = {"final_obs": observations, "_final_obs": truncated}
            self._begin(np.flatnonzero(truncated))
            observations = np.where(truncated[:, None], np.int8(0), observations)
        return observations, -costs / 10, terminated, truncated, info

    def _defend(self, actions: Ints) -> Bools:
        """Whether a host was restored, by environment."""
        kinds, hosts = np.divmod(actions - 1, len(HOSTS))

        def those(kind: int) -> tuple[Ints, Ints]:
            envs = np.flatnonzero(kinds == kind)
            return envs, hosts[envs]

        at = those(ANALYSE)
        self.beliefs[at] = BELIEVED[self.access[at]]
        at = those(REMOVE)
        self.access[at] = np.where((self.access[at] == SESSION) & (at[1] != FOOTHOLD), NOTHING, self.access[at])
        self.beliefs[at] = np.minimum(self.beliefs[at], UNKNOWN)
        at = those(RESTORE)
        self.access[at] = np.where(at[1] == FOOTHOLD, self.access[at], NOTHING)
        self.beliefs[at] = CLEAN
        self.decoys[at] = False
        at = those(DECOY)
        self.decoys[at] = MAY_HAVE_DECOYS[at[1]]
        restored: Bools = kinds == RESTORE
        return restored

    def _alarm(self, activity: Bits, chances: Floats) -> None:
        _, _, _, _, _, alarm, alarmed = chances
        envs = np.flatnonzero(alarm < FALSE_ALARM)
        activity[envs, (alarmed[envs] * len(HOSTS)).astype(np.int64)] = SCAN

    def _attack(self, activity: Bits, chances: Floats, acting: Bools) -> None:
        """The attacker's script, in the order of its preferences."""
        choice, _, _, success, _, _, _ = chances
        owned = self.access == OWNS
        front = np.where((owned & TARGETS[1]).any(1), 2, (owned & TARGETS[0]).any(1))
        targets = TARGETS[front]
        held = targets & (self.access == SESSION)
        closed = targets & (self.access == NOTHING)
        ready, fresh = closed & self.scanned, closed & ~self.scanned
        any_held, any_fresh = held.any(1), fresh.any(1)
        escalates = acting & any_held
        sweeps = acting & ~any_held & ~self.swept[self.everyone, front]
        goes_on = acting & ~any_held & ~sweeps
        exploits = goes_on & ready.any(1) & (~any_fresh | (choice < EAGER))
        envs = np.flatnonzero(escalates & (success < ESCALATES))
        self.access[envs, held[envs].argmax(1)] = OWNS
        envs = np.flatnonzero(sweeps)
        self.swept[envs, front[envs]] = True
        self._scan(np.flatnonzero(goes_on & ~exploits & any_fresh), fresh, activity, chances)
        self._exploit(np.flatnonzero(exploits), ready, activity, chances)

    def _scan(self, envs: Ints, fresh: Bools, activity: Bits, chances: Floats) -> None:
        _, target, _, _, seen, _, _ = chances[:, envs]
        hosts = nth(fresh[envs], target)
        self.scanned[envs, hosts] = True
        noticed = seen < SCAN_SEEN
        activity[envs[noticed], hosts[noticed]] = SCAN

    def _exploit(self, envs: Ints, ready: Bools, activity: Bits, chances: Floats) -> None:
        _, target, service, success, seen, _, _ = chances[:, envs]
        hosts = nth(ready[envs], target)
        visible = SERVICES[hosts] + len(DECOYS) * self.decoys[envs, hosts]
        tried = (service * visible).astype(np.int64)
        works = success < SUCCEEDS[hosts, tried]
        self.access[envs[works], hosts[works]] = SESSION
        noticed = (tried >= SERVICES[hosts]) | (seen < EXPLOIT_SEEN)
        activity[envs[noticed], hosts[noticed]] = EXPLOIT

    def _observe(self, activity: Bits) -> Bits:
        attacked = activity == EXPLOIT
        self.beliefs[attacked] = np.maximum(self.beliefs[attacked], USER)
        beliefs = self.beliefs
        by_host = np.stack(
            (
                activity != QUIET,
                attacked,
                (beliefs == UNKNOWN) | (beliefs == ROOT),
                (beliefs == USER) | (beliefs == ROOT),
            ),
            axis=2,
        )
        bits = np.concatenate((by_host.reshape(self.num_envs, -1), self.decoys[:, WITH_DECOYS]), axis=1)
        return bits.astype(np.int8)
