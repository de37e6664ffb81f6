"""Speeds that somebody has published with the hardware they were measured on. No figure of our own is among them.

A new row needs a source that a reader can open; a row that changes or goes raises the version.
"""

from __future__ import annotations

from typing import Final

from rlprof.model.expectations import Expectation

VERSION: Final = 1
_LEANRL: Final = (
    "pytorch-labs/LeanRL, README, speeds on a node with an H100: CleanRL's script, with compile and cudagraphs"
)

ROWS: Final[tuple[Expectation, ...]] = (
    Expectation("H100", "", 1022, 6809, "ppo_atari_envpool", _LEANRL),
    Expectation("H100", "", 652, 1774, "ppo_continuous_action", _LEANRL),
    Expectation("H100", "", 127, 725, "sac_continuous_action", _LEANRL),
    Expectation("H100", "", 272, 936, "td3_continuous_action", _LEANRL),
)
