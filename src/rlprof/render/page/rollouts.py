"""The mean rollout of each phase of a program's schedule, and how fast the run is beside what is expected of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlprof.analyse.expectations import PhaseSpeed
from rlprof.analyse.rollouts import RolloutTree
from rlprof.model.units import format_duration, format_percent, format_rate
from rlprof.render.rollouts import expected_text, heading, verdict_text, with_whole

Payload = dict[str, Any]


def rollouts(trees: Sequence[RolloutTree]) -> list[Payload]:
    """Each tree as rows, the rollout itself first."""
    return [
        {
            "title": heading(tree),
            "rows": [
                {
                    "name": part.name,
                    "depth": part.depth,
                    "time": format_duration(part.seconds),
                    "percent": format_percent(part.share),
                    "share": round(part.share, 4),
                }
                for part in with_whole(tree)
            ],
        }
        for tree in trees
    ]


def speeds(found: Sequence[PhaseSpeed]) -> list[Payload]:
    """A row for each phase that a table of expectations is about."""
    return [
        {
            "cells": [
                speed.phase or "whole run",
                speed.device,
                format_rate(speed.sps) if speed.sps is not None else "",
                expected_text(speed),
                verdict_text(speed),
            ],
            "source": speed.expected.source if speed.expected is not None else "",
            "flagged": speed.flagged,
        }
        for speed in found
    ]
