"""Scheduling a flexible manufacturing cell, as a gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .petri_engines import Engine, PlainEngine, State, TurboEngine
from .petri_net import CellSize, Ints, random_cell

Observation = dict[str, Any]

DEADLOCK = 2.0  # what it costs to leave all jobs unfinished
ILLEGAL = 0.05


class PetriEnv(gymnasium.Env[Observation, int]):  # type: ignore[misc]
    """Fire one enabled transition, or wait (the last action) until the next operation is over.

    Each episode brings the same number of jobs in another mix of types. Finished jobs earn 1 together. Time costs 1 for
    as long as the busiest machine needs in any case, and up to twice that while machines stand idle; so the shorter
    the makespan and the less idle time, the better. An illegal action does nothing and costs a little.
    """

    def __init__(self, size: CellSize | None = None, seed: int = 0, turbo: bool = True) -> None:
        self.cell = random_cell(seed, size or CellSize())
        net = self.cell.net
        self.engine: Engine = TurboEngine(net) if turbo else PlainEngine(net)
        self.wait = len(net.transitions)
        self.most_steps = 6 * self.cell.size.jobs * self.cell.size.stages
        self.token_scale = float(self.cell.size.jobs)
        self.time_scale = float(self.cell.size.longest)
        self.machines = self.cell.machines.tolist()
        most = max(1.0, self.cell.size.slots / self.token_scale)
        self.action_space = spaces.Discrete(self.wait + 1)
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0.0, most, (3 * len(net.places),), np.float32),
                "action_mask": spaces.MultiBinary(self.wait + 1),
            }
        )

    def use_engine(self, turbo: bool) -> None:
        """Go on with another engine, from the same tokens."""
        engine = TurboEngine if turbo else PlainEngine
        if not isinstance(self.engine, engine):
            state = self.engine.state()
            self.engine = engine(self.cell.net)
            self.engine.load(state)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Any]:
        super().reset(seed=seed)
        mix = self._draw_jobs()
        marking = self.cell.empty.copy()
        marking[self.cell.raw] = mix
        self.engine.load(State(0, tuple(marking.tolist()), ((),) * len(marking)))
        self.shortest = self._shortest_makespan(mix)
        self.left = int(mix.sum())
        self.steps = 0
        return self._observe(), {}

    def _draw_jobs(self) -> Ints:
        size = self.cell.size
        return np.asarray(self.np_random.multinomial(size.jobs, [1 / size.job_types] * size.job_types))

    def _shortest_makespan(self, mix: Ints) -> float:
        """No schedule is shorter than the work of the busiest machine."""
        work = np.zeros(self.cell.size.machines)
        np.add.at(work, self.cell.routes, self.cell.times * mix[:, None])
        return float(work.max())

    def _observe(self) -> Observation:
        self.mask = np.append(self.engine.enabled(), False)
        # Where nothing else can be done, waiting is legal: a policy always has something to choose.
        self.mask[-1] = self.engine.is_working() or not self.mask.any()
        observation = self.engine.observe(self.token_scale, self.time_scale)
        return {"observation": observation, "action_mask": self.mask.astype(np.int8)}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        reward = self._act(int(action))
        self.steps += 1
        observation = self._observe()
        deadlock = self.left > 0 and not self.engine.is_working() and not self.mask[:-1].any()
        if deadlock:
            reward -= DEADLOCK * self.left / self.cell.size.jobs
        ended = self.left == 0 or deadlock
        info = {"makespan": self.engine.now, "unfinished": self.left} if ended else {}
        return observation, reward, ended, not ended and self.steps >= self.most_steps, info

    def _act(self, action: int) -> float:
        if not self.mask[action]:
            return -ILLEGAL
        if action == self.wait:
            idle = self.engine.ready_in(self.machines) / len(self.machines)
            return -self.engine.wait() * (1.0 + idle) / self.shortest
        self.engine.fire(action)
        if action not in self.cell.leaves:
            return 0.0
        self.left -= 1
        return 1.0 / self.cell.size.jobs
