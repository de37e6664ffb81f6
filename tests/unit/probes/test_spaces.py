"""The size of an observation follows from its space, as far as that is of a known form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlprof.probes.spaces import describe

gymnasium = pytest.importorskip("gymnasium")


def test_observations_are_as_large_as_their_space_says() -> None:
    spaces = gymnasium.spaces
    picture = spaces.Box(0, 255, (84, 84, 3), np.uint8)
    for space, size in (
        (picture, 84 * 84 * 3),
        (spaces.Dict({"picture": picture, "speed": spaces.Box(0, 1, (2,), np.float32)}), 84 * 84 * 3 + 8),
        (spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(5))), 8 + 5),
        (spaces.Text(5), None),
    ):
        assert describe(SimpleNamespace(single_observation_space=space))["observation_bytes"] == size


def test_what_is_not_known_is_none() -> None:
    class Strange:
        @property
        def shape(self) -> Any:
            raise RuntimeError("no")

    assert describe(object()) == {"observation_bytes": None, "shared_memory": None}
    assert describe(SimpleNamespace(observation_space=Strange(), shared_memory="yes")) == {
        "observation_bytes": None,
        "shared_memory": None,
    }
    assert describe(SimpleNamespace(shared_memory=True))["shared_memory"] is True
