"""Trains one of the programs with timers placed by hand, and tells the seconds of each phase."""

from __future__ import annotations

import argparse
import importlib
import json
import time

from hand_clock import clock

TIMED = {
    "sb3_ppo": ("sb3_hand_timed", "PPOTraining"),
    "sb3_dqn": ("sb3_hand_timed", "DQNTraining"),
    "cleanrl_ppo": ("cleanrl_ppo_hand_timed", "Training"),
    "torchrl_ppo": ("torchrl_ppo_hand_timed", "Training"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=TIMED)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--subproc", action="store_true")
    args = parser.parse_args()
    module, name = TIMED[args.program]
    made = getattr(importlib.import_module(module), name)
    training = made(args.subproc) if args.program == "sb3_ppo" else made()
    clock.time_collections()
    clock.spent.clear()
    start = time.perf_counter()
    steps = training.train(args.steps)
    seconds = time.perf_counter() - start
    by_hand = {phase: spent / 1e9 for phase, spent in clock.spent.items()}
    print(json.dumps({"seconds": seconds, "steps": steps, "by_hand": by_hand}), flush=True)
    training.close()


if __name__ == "__main__":
    main()
