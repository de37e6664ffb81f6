"""How large an observation is, by the space that an environment says it is from."""

from __future__ import annotations

from typing import Any, Final

#: Where vector environments keep the space of a single environment, and whether workers write into shared memory.
_SPACES: Final = ("single_observation_space", "observation_space")
_DEEPEST: Final = 4


def describe(env: Any) -> dict[str, Any]:
    """What is known of a vector environment's observations; looked up in its own dictionary, as workers are."""
    held = getattr(env, "__dict__", {})
    space = next((held[name] for name in _SPACES if held.get(name) is not None), None)
    shared = held.get("shared_memory")
    return {
        "observation_bytes": _bytes_of(space),
        "shared_memory": shared if isinstance(shared, bool) else None,
    }


def _bytes_of(space: Any, depth: int = 0) -> int | None:
    """None where the space is of no known form."""
    try:
        parts = getattr(space, "spaces", None)
        if parts is not None and depth < _DEEPEST:
            sizes = [_bytes_of(part, depth + 1) for part in (parts.values() if hasattr(parts, "values") else parts)]
            known = [size for size in sizes if size is not None]
            return sum(known) if len(known) == len(sizes) else None
        size = int(space.dtype.itemsize)
        for side in space.shape:
            size *= int(side)
        return size if size >= 0 else None
    except Exception:  # a space of anybody's making
        return None
