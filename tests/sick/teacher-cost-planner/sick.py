"""A student learns the way out of mazes from a planner that searches the whole maze for every single answer."""

import collections
import time

import numpy as np
import torch
from torch import nn

SIZE, STEPS = 14, 15000
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Maze:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.walls = self.rng.random((SIZE, SIZE)) < 0.2
        self.walls[0, 0] = self.walls[-1, -1] = False
        self.place, self.age = (0, 0), 0
        return self.picture()

    def picture(self):
        seen = self.walls.astype(np.float32)
        seen[self.place] = 0.5
        return seen.ravel()

    def is_free(self, place):
        return 0 <= place[0] < SIZE and 0 <= place[1] < SIZE and not self.walls[place]

    def step(self, action):
        self.age += 1
        place = (self.place[0] + MOVES[action][0], self.place[1] + MOVES[action][1])
        if self.is_free(place):
            self.place = place
        out = self.place == (SIZE - 1, SIZE - 1)
        return self.picture(), float(out), out or self.age >= 60, {}


class Planner:
    """Knows the way out."""

    def act(self, maze):
        first, waiting = {maze.place: None}, collections.deque([maze.place])
        while waiting:
            place = waiting.popleft()
            for move, (down, right) in enumerate(MOVES):  # CAUSE
                following = (place[0] + down, place[1] + right)  # CAUSE
                if following not in first and maze.is_free(following):  # CAUSE
                    first[following] = move if first[place] is None else first[place]  # CAUSE
                    waiting.append(following)  # CAUSE
        return first.get((SIZE - 1, SIZE - 1)) or 0


def main():
    torch.manual_seed(0)
    maze, teacher = Maze(0), Planner()
    student = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.ReLU(), nn.Linear(64, len(MOVES)))
    optimizer = torch.optim.Adam(student.parameters(), 1e-3)
    shown, told = collections.deque(maxlen=2000), collections.deque(maxlen=2000)
    seen = maze.reset()
    started = time.perf_counter()
    for step in range(STEPS):
        shown.append(seen)
        told.append(teacher.act(maze))
        with torch.no_grad():
            action = int(student(torch.as_tensor(seen)).argmax())
        seen, _, over, _ = maze.step(action)
        if over:
            seen = maze.reset()
        if step % 16 == 15:
            chosen = np.random.randint(0, len(shown), 32)
            pictures = torch.as_tensor(np.stack([shown[k] for k in chosen]))
            loss = nn.functional.cross_entropy(student(pictures), torch.as_tensor([told[k] for k in chosen]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")


main()
