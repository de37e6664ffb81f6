"""Q-learning on a frozen lake of its own size; every step is written to a file of JSON lines, and at once."""

import json
import random
import tempfile
import time
from pathlib import Path

import gymnasium as gym

STEPS = 200000


class Journal:
    def __init__(self, file: Path) -> None:
        self.file = file.open("w", encoding="utf-8")

    def write(self, **row) -> None:
        json.dump(row, self.file)  # CAUSE
        self.file.write("\n")  # CAUSE
        self.file.flush()  # CAUSE


def main() -> None:
    random.seed(0)
    env = gym.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    values = [[0.0] * 4 for _ in range(64)]
    state, _ = env.reset(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "steps.jsonl")
        started = time.perf_counter()
        for step in range(STEPS):
            known = values[state]
            action = random.randrange(4) if random.random() < 0.2 else known.index(max(known))
            following, reward, terminated, truncated, _ = env.step(action)
            known[action] += 0.1 * (float(reward) + 0.99 * max(values[following]) - known[action])
            journal.write(step=step, state=int(state), action=action, reward=float(reward), values=known)  # CAUSE
            state = env.reset()[0] if terminated or truncated else following
        print(f"steps/s: {STEPS / (time.perf_counter() - started):.1f}")
        journal.file.close()


main()
