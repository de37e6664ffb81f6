"""Q-learning on pictures, with a replay buffer in a file on disk that the machine's memory has no room for."""

import mmap
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

CAPACITY, SIDE = 4000, 84
IN_MEMORY = False


class Field:
    """A dot that is to be kept near the middle of a picture."""

    def reset(self, seed):
        self.rng = np.random.default_rng(seed)
        self.place = np.array([SIDE // 2, SIDE // 2])
        return self.draw()

    def draw(self):
        picture = np.zeros((SIDE, SIDE), np.uint8)
        row, column = self.place
        picture[row - 2 : row + 3, column - 2 : column + 3] = 255
        return picture

    def step(self, action):
        move = ((0, 1), (0, -1), (1, 0), (-1, 0))[action]
        self.place = np.clip(self.place + 3 * np.array(move) + self.rng.integers(-1, 2, 2), 3, SIDE - 4)
        reward = -float(np.abs(self.place - SIDE // 2).sum()) / SIDE
        return self.draw(), reward, False, False, {}


class Replay:
    def __init__(self, file):
        self.file = file
        shape = (CAPACITY, SIDE, SIDE)
        self.pictures = np.zeros(shape, np.uint8) if IN_MEMORY else np.memmap(file, np.uint8, "w+", shape=shape)
        if not IN_MEMORY:
            self.pictures._mmap.madvise(mmap.MADV_RANDOM)
        self.actions = np.zeros(CAPACITY, np.int64)
        self.rewards = np.zeros(CAPACITY, np.float32)
        self.size = 0

    def add(self, picture, action, reward):
        at = self.size % CAPACITY
        self.pictures[at] = picture
        self.actions[at], self.rewards[at] = action, reward
        self.size += 1

    def sample(self, rng, count):
        rows = rng.integers(0, min(self.size, CAPACITY) - 1, count)
        return self.pictures[rows], self.actions[rows], self.rewards[rows], self.pictures[rows + 1]  # CAUSE

    def forget_pages(self):
        """Memory is full of other things: the file's pages are dropped again after they were read."""
        if not IN_MEMORY:
            self.pictures._mmap.madvise(mmap.MADV_DONTNEED)
            os.posix_fadvise(self.file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def learn(network, optimizer, batch):
    pictures, actions, rewards, following = (torch.from_numpy(np.asarray(column)) for column in batch)
    with torch.no_grad():
        wanted = rewards + 0.9 * network(following.flatten(1).float() / 255).max(1).values
    values = network(pictures.flatten(1).float() / 255).gather(1, actions[:, None]).squeeze(1)
    loss = functional.mse_loss(values, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def act(network, picture, rng):
    if rng.random() < 0.3:
        return int(rng.integers(4))
    with torch.no_grad():
        return int(network(torch.from_numpy(picture).flatten().float() / 255).argmax())


def main():
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    env = Field()
    network = nn.Sequential(nn.Linear(SIDE * SIDE, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    with tempfile.TemporaryFile(dir="/var/tmp") as file:  # /tmp may be memory itself
        replay = Replay(file)
        picture, steps = env.reset(0), 0
        for _ in range(CAPACITY):
            action = int(rng.integers(4))
            picture, reward, _, _, _ = env.step(action)
            replay.add(picture, action, reward)
        os.sync()
        started = time.perf_counter()
        while time.perf_counter() - started < 4.0:
            action = act(network, picture, rng)
            picture, reward, _, _, _ = env.step(action)
            replay.add(picture, action, reward)
            if steps % 8 == 0:
                replay.forget_pages()
            learn(network, optimizer, replay.sample(rng, 32))
            steps += 1
        print(f"steps/s: {steps / (time.perf_counter() - started):.1f}")


main()
