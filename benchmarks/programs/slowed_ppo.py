"""The CartPole PPO of examples/, with a known slow-down put in: after each update it works on for a share of the turn.

`--slow 0.05` makes every turn take 5% longer, in a span of its own. With `--alternate` the slow-down is switched on and
off inside the run. Without rlprof recording it is the same program, which other tools can time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import cartpole_ppo

from rlprof import alternate, profile


def spin(seconds: float) -> None:
    """Work, not sleep: a machine that is busy slows this down as it slows the rest."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def slow_down(share: float, alternating: bool) -> None:
    """Make each update end with a share of the CPU time that the turn took."""
    learn = cartpole_ppo.learn
    last = time.thread_time()

    def slowed(*args: Any) -> None:
        nonlocal last
        learn(*args)
        if not alternating or alternate("slow", [False, True]):
            with profile("injected", phase="learn.other"):
                spin(share * (time.thread_time() - last))
        last = time.thread_time()

    cartpole_ppo.learn = slowed


def main() -> None:
    words = sys.argv[1:]
    alternating = "--alternate" in words
    share = float(words[words.index("--slow") + 1]) if "--slow" in words else 0.0
    rest = [
        word for at, word in enumerate(words) if word not in ("--alternate", "--slow") and words[at - 1] != "--slow"
    ]
    if share:
        slow_down(share, alternating)
    cartpole_ppo.train(cartpole_ppo.parse_options(rest))


if __name__ == "__main__":
    main()
