"""Leaving out tests of libraries that are not there, without importing those that are."""

from __future__ import annotations

import importlib.util

import pytest

#: RLlib is part of Ray and takes more than Ray does, which alone is there for experiments on clusters.
FOR_RLLIB = ("ray", "ormsgpack", "tree")


def need(*libraries: str) -> None:
    """Skip the test, or the whole module that calls this, unless all of these top-level packages are installed."""
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)
