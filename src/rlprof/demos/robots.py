"""Recurrent PPO (sb3-contrib) slides robots over a board that it sees as a picture.

The board is in robots_board.py, its pictures in robots_drawing.py, the networks in robots_policy.py. This program shows
what annotations look like: its operations are timed by name with rlprof's context manager and decorator.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from rlprof import profile, profile_function

from .progress import Progress
from .robots_board import OBS_MODES, RobotsEnv
from .robots_policy import BoardEncoder, RobotsPolicy


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="robots", description="Learn to slide robots with recurrent PPO.")
    add = parser.add_argument
    add("--timesteps", type=int, default=4096, help="steps of the environments [4096]")
    add("--obs-mode", choices=OBS_MODES, default="rgb_image", help="what the agent sees [rgb_image]")
    add("--convlstm", action=argparse.BooleanOptionalAction, default=True, help="ConvLSTM layers in the encoder [on]")
    add("--layers", type=int, default=2, help="of them [2]")
    add("--ticks", type=int, default=2, help="times that each observation goes through them [2]")
    add("--channels", type=int, default=16, help="of each of them [16]")
    add("--image-size", type=int, default=64, help="pixels of a side of the picture that the agent sees [64]")
    add("--robots", type=int, default=2, help="on the board [2]")
    add("--envs", type=int, default=4, help="games at once [4]")
    add("--n-steps", type=int, default=128, help="steps of each between two updates [128]")
    add("--epochs", type=int, default=4, help="passes over them [4]")
    add("--batch", type=int, default=128, help="steps per gradient step [128]")
    add("--hidden", type=int, default=64, help="units of the LSTM [64]")
    add("--learning-rate", type=float, default=1e-3, help="of Adam [0.001]")
    add("--seed", type=int, default=0, help="of the board, the games and the networks [0]")
    add("--threads", type=int, default=1, help="of torch [1]")
    return parser.parse_args(words)


class RobotsPPO(RecurrentPPO):  # type: ignore[misc]
    """Recurrent PPO with its two halves timed by name. Their peaks of memory are measured, not sampled."""

    @profile_function("data collection", track_memory=True)
    def collect_rollouts(self, *args: Any, **kwargs: Any) -> Any:
        return super().collect_rollouts(*args, **kwargs)

    @profile_function("model update", track_memory=True)
    def train(self) -> None:
        super().train()


class Games(BaseCallback):  # type: ignore[misc]
    """Notes how games ended, and shows how far training is."""

    def __init__(self, timesteps: int) -> None:
        super().__init__()
        self.timesteps = timesteps
        self.progress = Progress("robots", timesteps)
        self.solved: list[bool] = []
        self.said = self.counted = 0

    def _on_step(self) -> bool:
        for info, ended in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if ended:
                self.solved.append(info["solved"])
        self.progress.update(self.num_timesteps)
        tenth = self.num_timesteps * 10 // self.timesteps
        if tenth > self.said and tenth <= 10:
            self.said = tenth
            new = self.solved[self.counted :]
            self.counted = len(self.solved)
            self.progress.say(f"{self.num_timesteps} steps: {sum(new)} of {len(new)} games solved")
        return True


def make_model(options: argparse.Namespace) -> RobotsPPO:
    make = partial(RobotsEnv, options.seed, options.robots, options.obs_mode, options.image_size)
    network: dict[str, Any] = {"lstm_hidden_size": options.hidden, "net_arch": [64]}
    if options.obs_mode == "rgb_image":
        network["features_extractor_class"] = BoardEncoder
        network["features_extractor_kwargs"] = {
            "channels": options.channels,
            "layers": options.layers if options.convlstm else 0,
            "ticks": options.ticks,
        }
    return RobotsPPO(
        RobotsPolicy,
        DummyVecEnv([make] * options.envs),
        n_steps=options.n_steps,
        batch_size=options.batch,
        n_epochs=options.epochs,
        learning_rate=options.learning_rate,
        gamma=0.95,
        ent_coef=0.01,
        policy_kwargs=network,
        seed=options.seed,
        device="cpu",
    )


def train(options: argparse.Namespace) -> list[bool]:
    """Whether each finished game was solved, in the order in which they ended."""
    torch.set_num_threads(options.threads)
    games, model = Games(options.timesteps), make_model(options)
    with profile("total"):
        model.learn(options.timesteps, callback=games)
    return games.solved


def main() -> None:
    train(parse())


if __name__ == "__main__":
    main()
