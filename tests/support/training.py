"""A tiny training program for tests of experiments. It sleeps instead of working, which is steady on a busy machine."""

from __future__ import annotations

SLEEPY = """
    import argparse, os, sys, time
    import rlprof

    parser = argparse.ArgumentParser()
    parser.add_argument("--envs", type=int, default=4)
    parser.add_argument("--step-ms", type=float, default=2.0)
    parser.add_argument("--update-ms", type=float, default=float(os.environ.get("UPDATE_MS", "2")))
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--mode", default="works")
    options = parser.parse_args()
    if options.mode == "crashes":
        sys.exit("no such game")
    for _ in range(options.turns):
        rlprof.iteration()
        for _ in range(2):
            with rlprof.profile("env_step", phase="env.step"):
                time.sleep(options.step_ms / 1000)
            rlprof.count("env_steps", options.envs)
        with rlprof.profile("update", phase="learn.loss"):
            time.sleep(options.update_ms / 1000)
        rlprof.count("updates", 1)
        while options.mode == "hangs":
            time.sleep(0.05)
"""
