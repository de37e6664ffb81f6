"""DQN that plays 256 games of snake at once, written the way that comes to mind first.

It is slow on purpose, in three places that are common: experience is pushed into the replay buffer one game at a time,
every step of the games is followed by 64 gradient steps, and the room around each snake is searched in Python. Options
undo each of them. The board is in snake_board.py, the searches are in snake_flood.py.
"""

from __future__ import annotations

import argparse
import logging
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from .progress import Progress
from .snake_board import FLOOD_FILLS, SnakeBoard


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="snake", description="Learn to play snake with DQN.")
    add = parser.add_argument
    add("--push", choices=("loop", "batched"), default="loop", help="how experience gets into the buffer [loop]")
    add("--train-steps", type=int, default=64, help="gradient steps each time; 0: do not train [64]")
    add("--train-every", type=int, default=1, help="train once every so many steps of the games [1]")
    add("--flood-fill", choices=tuple(FLOOD_FILLS), default="python", help="how to look for room [python]")
    add("--envs", type=int, default=256, help="games at once [256]")
    add("--episodes", type=int, default=500, help="finished games to stop after [500]")
    add("--log", choices=("none", "episode", "step"), default="step", help="what to write into the log file [step]")
    add("--log-file", default="snake.log", help="where it is [snake.log]")
    add("--size", type=int, default=10, help="cells of a side of the board [10]")
    add("--batch", type=int, default=128, help="transitions per gradient step [128]")
    add("--hidden", type=int, default=64, help="units of a hidden layer [64]")
    add("--seed", type=int, default=0, help="of the games and the network [0]")
    add("--threads", type=int, default=1, help="of torch; more of them slow small networks down [1]")
    return parser.parse_args(words)


Floats = NDArray[np.float32]


@dataclass
class Step:
    """One step of all games."""

    observations: Tensor
    actions: Tensor
    rewards: Tensor
    following: Tensor
    terminated: Tensor


class Replay:
    """The last transitions, in a ring."""

    def __init__(self, capacity: int, features: int, seed: int) -> None:
        self.capacity = capacity
        self.observations = np.zeros((capacity, features), dtype=np.float32)
        self.following = np.zeros((capacity, features), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.ends = np.zeros(capacity, dtype=np.float32)
        self.added = 0
        self.random = np.random.default_rng(seed)

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def push(self, observation: Floats, action: int, reward: float, following: Floats, end: bool) -> None:
        at = self.added % self.capacity
        self.observations[at] = observation
        self.actions[at] = action
        self.rewards[at] = reward
        self.following[at] = following
        self.ends[at] = end
        self.added += 1

    def push_batch(self, step: Step) -> None:
        at = (self.added + np.arange(len(step.actions))) % self.capacity
        self.observations[at] = step.observations.cpu().numpy()
        self.actions[at] = step.actions.cpu().numpy()
        self.rewards[at] = step.rewards.cpu().numpy()
        self.following[at] = step.following.cpu().numpy()
        self.ends[at] = step.terminated.cpu().numpy()
        self.added += len(step.actions)

    def sample(self, count: int) -> tuple[Tensor, ...]:
        rows = self.random.integers(len(self), size=count)
        columns = (self.observations, self.actions, self.rewards, self.following, self.ends)
        return tuple(torch.from_numpy(column[rows]) for column in columns)


class Agent:
    """A Q-network, its slowly following target, and one gradient step."""

    def __init__(self, features: int, actions: int, options: argparse.Namespace) -> None:
        self.network = self._layers(features, options.hidden, actions)
        self.target = self._layers(features, options.hidden, actions)
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.actions = actions
        self.batch = options.batch
        self.updates = 0

    @staticmethod
    def _layers(features: int, hidden: int, actions: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, actions)
        )

    def act(self, observations: Tensor, explore: float) -> Tensor:
        with torch.no_grad():
            best = self.network(observations).argmax(1)
        anything = torch.randint(self.actions, best.shape)
        return torch.where(torch.rand(best.shape) < explore, anything, best)

    def train(self, replay: Replay) -> None:
        observations, actions, rewards, following, ends = replay.sample(self.batch)
        with torch.no_grad():
            ahead = self.target(following).max(1).values
            wanted = rewards + 0.95 * (1.0 - ends) * ahead
        values = self.network(observations).gather(1, actions[:, None]).squeeze(1)
        loss = functional.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 200 == 0:
            self.target.load_state_dict(self.network.state_dict())


def push(replay: Replay, step: Step, how: str) -> None:
    if how == "batched":
        replay.push_batch(step)
        return
    for game in range(len(step.actions)):
        replay.push(
            step.observations[game].cpu().numpy(),
            step.actions[game].item(),
            step.rewards[game].item(),
            step.following[game].cpu().numpy(),
            step.terminated[game].item(),
        )


def open_log(options: argparse.Namespace) -> logging.Logger:
    log = logging.getLogger("snake")
    log.propagate = False
    log.setLevel(logging.INFO)
    if options.log != "none":
        handler = logging.FileHandler(options.log_file, mode="w")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        log.addHandler(handler)
    return log


def close_log(log: logging.Logger) -> None:
    for handler in list(log.handlers):
        log.removeHandler(handler)
        handler.close()


def write_log(log: logging.Logger, options: argparse.Namespace, step: Step, scores: Tensor, ended: Tensor) -> None:
    if options.log == "step":
        for game in range(len(scores)):
            log.info("game %d: reward %.1f, score %d", game, step.rewards[game].item(), scores[game].item())
    if options.log != "none":
        for game in ended.nonzero().flatten().tolist():
            log.info("game %d ended with score %d", game, scores[game].item())


@dataclass
class Training:
    """What came of it: the scores of finished games in the order in which they ended, steps of all games, updates."""

    scores: list[int]
    steps: int
    updates: int


def train(options: argparse.Namespace) -> Training:
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    board = SnakeBoard(options.envs, options.size, options.flood_fill)
    features = board.single_observation_space.shape[0]
    agent = Agent(features, int(board.single_action_space.n), options)
    replay = Replay(100_000, features, options.seed)
    log = open_log(options)
    progress = Progress("snake", options.episodes)
    scores: list[int] = []
    steps, said = 0, 0
    observations, _ = board.reset(seed=options.seed)
    while len(scores) < options.episodes:
        explore = max(0.01, 1.0 - len(scores) / (0.3 * options.episodes))
        actions = agent.act(observations, explore)
        following, rewards, terminated, truncated, info = board.step(actions)
        step = Step(observations, actions, rewards, info["final_obs"], terminated)
        push(replay, step, options.push)
        ended = terminated | truncated
        write_log(log, options, step, info["scores"], ended)
        steps += 1
        if steps % options.train_every == 0 and len(replay) >= options.batch:
            for _ in range(options.train_steps):
                agent.train(replay)
        scores += info["scores"][ended].tolist()
        observations = following
        progress.update(len(scores))
        while said < len(scores) * 10 // options.episodes and said < 10:
            said += 1
            last = scores[: said * options.episodes // 10][-200:]
            progress.say(f"{said * 10}% of {options.episodes} games: mean score {sum(last) / max(len(last), 1):.3f}")
    close_log(log)
    return Training(scores, steps * options.envs, agent.updates)


def main() -> None:
    done = train(parse())
    print(f"{done.steps} steps of games, {done.updates} gradient steps")


if __name__ == "__main__":
    main()
