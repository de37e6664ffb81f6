"""Networks for the sliding robots: an encoder with ConvLSTM layers that think for some ticks, and the policy."""

from __future__ import annotations

from typing import Any

import torch
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn
from torch.nn import functional

from rlprof import profile, profile_function

PATCH = 4  # pixels of a side that the encoder takes together: one cell of the board at 64 x 64


class ConvLSTMCell(nn.Module):  # type: ignore[misc]
    """An LSTM whose state is a map, and whose gates are convolutions."""

    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.gates = nn.Conv2d(inputs + channels, 4 * channels, kernel_size=3, padding=1)

    def forward(self, seen: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        hidden, cell = state
        take, forget, give, new = self.gates(torch.cat((seen, hidden), 1)).chunk(4, 1)
        cell = torch.sigmoid(forget + 1.0) * cell + torch.sigmoid(take) * torch.tanh(new)
        return torch.sigmoid(give) * torch.tanh(cell), cell


class BoardEncoder(BaseFeaturesExtractor):  # type: ignore[misc]
    """From a picture of the board to features.

    The picture gets a margin of one patch, and a channel that says where the margin is. With ConvLSTM layers, the
    encoded board goes through them some times over before there is an answer; each of them sees the board itself, too.
    """

    def __init__(
        self, observation_space: Any, features: int = 128, channels: int = 16, layers: int = 2, ticks: int = 2
    ) -> None:
        super().__init__(observation_space, features)
        self.ticks = ticks
        self.channels = channels
        self.encoder = nn.Sequential(
            nn.Conv2d(observation_space.shape[0] + 1, 2 * channels, kernel_size=PATCH, stride=PATCH),
            nn.ReLU(),
            nn.Conv2d(2 * channels, channels, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.layers = nn.ModuleList(ConvLSTMCell(2 * channels, channels) for _ in range(layers))
        pooled = 2 * channels * (2 if layers else 1)
        self.project = nn.Sequential(nn.Linear(pooled, features), nn.ReLU())

    @profile_function("forward pass")
    def forward(self, pictures: Tensor) -> Tensor:
        with profile("boundary padding"):
            margin = torch.zeros_like(pictures[:, :1])
            bordered = functional.pad(pictures, (PATCH,) * 4)
            edge = functional.pad(margin, (PATCH,) * 4, value=1.0)
            padded = torch.cat((bordered, edge), 1)
        with profile("conv encoder"):
            board = self.encoder(padded)
        if self.layers:
            with profile("ConvLSTM layers"):
                thought = self._think(board)
            with profile("skip connection"):
                board = torch.cat((board, thought), 1)
        with profile("global pooling"):
            pooled = torch.cat((board.mean((2, 3)), board.amax((2, 3))), 1)
        with profile("projection"):
            projected: Tensor = self.project(pooled)
        return projected

    def _think(self, board: Tensor) -> Tensor:
        states = [(torch.zeros_like(board), torch.zeros_like(board)) for _ in self.layers]
        for _ in range(self.ticks):
            below = states[-1][0]
            for number, layer in enumerate(self.layers):
                states[number] = layer(torch.cat((board, below), 1), states[number])
                below = states[number][0]
        return states[-1][0]


class RobotsPolicy(RecurrentActorCriticPolicy):  # type: ignore[misc]
    """The recurrent policy of sb3-contrib, with the parts of choosing an action timed by name."""

    @profile_function("policy forward", phase="policy.forward")
    def forward(
        self, obs: Tensor, lstm_states: RNNStates, episode_starts: Tensor, deterministic: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, RNNStates]:
        features = self.extract_features(obs)
        with profile("hidden states"):
            acting, acting_states = self._process_sequence(features, lstm_states.pi, episode_starts, self.lstm_actor)
            judging, judging_states = self._process_sequence(features, lstm_states.vf, episode_starts, self.lstm_critic)
        with profile("action and value"):
            values = self.value_net(self.mlp_extractor.forward_critic(judging))
            with profile("action distribution"):
                distribution = self._get_action_dist_from_latent(self.mlp_extractor.forward_actor(acting))
            with profile("sampling"):
                actions = distribution.get_actions(deterministic=deterministic)
                log_probs = distribution.log_prob(actions)
        return actions, values, log_probs, RNNStates(acting_states, judging_states)
