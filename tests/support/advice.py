"""Places and helpers for tests of rules."""

from __future__ import annotations

from rlprof.advise.report import complete_report
from rlprof.model.report import Finding
from support.recordings import FrameSpec, RecordingBuilder

TRAIN = "/home/ann/project/train.py"
ENV = "/home/ann/project/env.py"
MAIN = FrameSpec("main", TRAIN, 10)
STEP = FrameSpec("World.step", ENV, 40)
COPY = FrameSpec("deepcopy", "/usr/lib/python3.11/copy.py", 128)
MODULE = FrameSpec("Module._call_impl", "/home/ann/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1787)
SB3 = FrameSpec(
    "learn", "/home/ann/venv/lib/python3.11/site-packages/stable_baselines3/common/on_policy_algorithm.py", 300
)


def train(line: int, function: str = "main") -> FrameSpec:
    """A line of the user's training program."""
    return FrameSpec(function, TRAIN, line)


def env(line: int, function: str) -> FrameSpec:
    """A line of the user's environment."""
    return FrameSpec(function, ENV, line)


def found(builder: RecordingBuilder, rule: str) -> Finding | None:
    """The finding of one rule, if it speaks."""
    return next((finding for finding in complete_report(builder.build()).findings if finding.rule == rule), None)
