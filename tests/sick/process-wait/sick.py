"""REINFORCE on a game of hints that is over in microseconds; each of eight copies runs in a process of its own."""

import multiprocessing
import time

import numpy as np
import torch
from torch import nn

COPIES, TURNS, LENGTH = 8, 12_000, 25


class Hints:
    """Tells which of four arms is the best, through noise."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def reset(self) -> np.ndarray:
        self.turn, self.best = 0, int(self.random.integers(4))
        return self.hint()

    def hint(self) -> np.ndarray:
        seen = self.random.normal(size=8).astype(np.float32)
        seen[self.best] += 1.0
        return seen

    def step(self, arm: int) -> tuple[np.ndarray, float, bool, dict]:
        self.turn += 1
        won, over = float(arm == self.best), self.turn >= LENGTH
        return (self.reset() if over else self.hint()), won, over, {}


def serve(pipe, seed: int) -> None:
    game = Hints(seed)
    pipe.send(game.reset())
    while (arm := pipe.recv()) is not None:
        pipe.send(game.step(arm))


def started() -> tuple[list, list]:
    context, pipes, processes = multiprocessing.get_context("fork"), [], []
    for seed in range(COPIES):
        mine, theirs = context.Pipe()
        processes.append(context.Process(target=serve, args=(theirs, seed), daemon=True))
        processes[-1].start()
        pipes.append(mine)
    return pipes, processes


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    pipes, processes = started()
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    hints = np.stack([pipe.recv() for pipe in pipes])
    logs, rewards = [], []
    begun = time.perf_counter()
    for _ in range(TURNS):
        logits = net(torch.from_numpy(hints)).log_softmax(-1)
        arms = torch.multinomial(logits.detach().exp(), 1)
        for pipe, arm in zip(pipes, arms.squeeze(1).tolist(), strict=True):
            pipe.send(arm)  # CAUSE
        answers = [pipe.recv() for pipe in pipes]  # CAUSE
        hints = np.stack([answer[0] for answer in answers])
        logs.append(logits.gather(1, arms).squeeze(1))
        rewards.append([answer[1] for answer in answers])
        if len(logs) == LENGTH:
            gains = torch.from_numpy(np.array(rewards, np.float32))
            loss = -(torch.stack(logs) * (gains - gains.mean())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            logs, rewards = [], []
    print(f"steps/s: {COPIES * TURNS / (time.perf_counter() - begun):.1f}")
    for pipe in pipes:
        pipe.send(None)
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
