"""How many environments took a step, and how many of them ended an episode, from what `step` returned."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import Any


def size_of(value: Any) -> int | None:
    """One for a number, n for a column of n; None for what is neither."""
    if isinstance(value, Number):
        return 1
    shape = getattr(value, "shape", None)
    if shape is not None:
        try:
            return int(shape[0]) if len(shape) else 1
        except (TypeError, ValueError):
            return None
    return len(value) if isinstance(value, (list, tuple)) else None


def is_column(value: Any) -> bool:
    """A number, or one number for each environment: what rewards and ends of episodes look like."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) < 2 or (len(shape) == 2 and shape[1] == 1)
    if isinstance(value, Mapping):  # one for each agent
        return all(isinstance(item, Number) or getattr(item, "shape", None) == () for item in value.values())
    return isinstance(value, Number) or (isinstance(value, (list, tuple)) and all(map(_is_single, value)))


def _is_single(value: Any) -> bool:
    return isinstance(value, Number) or getattr(value, "shape", None) == ()


def is_flag(value: Any) -> bool:
    """True or False, one or many."""
    if isinstance(value, (list, tuple)):
        return bool(value) and is_flag(value[0])
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def env_steps_of(result: Any, of_many: bool) -> int:
    """Steps that one call took: as many as there are rewards and ends. Where there are none, see `shares_batch`."""
    parts: Any = result if isinstance(result, tuple) else ()
    if len(parts) >= 3:
        return size_of(parts[2]) or size_of(parts[1]) or 1
    if isinstance(result, Mapping):
        return (size_of(result["reward"]) or 1) if "reward" in result else 1
    return _batch_of(result) or 1 if of_many else 1


def shares_batch(action: Any, result: Any) -> bool:
    """Whether action and observation are as long as each other: those of many environments."""
    try:
        size = _batch_of(result)
        return size is not None and size_of(action) == size
    except Exception:  # values of any making
        return False


def _batch_of(result: Any) -> int | None:
    observation = result[0] if isinstance(result, tuple) and result else result
    shape: Any = getattr(observation, "shape", ())
    return int(shape[0]) if len(shape) > 1 else None


def ended_of(result: Any) -> int:
    """Environments whose episode this step ended. Values on a device are not asked for: that would wait for it."""
    parts: Any = result if isinstance(result, tuple) else ()
    if len(parts) < 3 or not _is_at_hand(parts[2]):
        return 0
    ended = parts[2]
    if len(parts) == 5 and _is_at_hand(parts[3]) and size_of(parts[3]) == size_of(ended):
        ended = _either(ended, parts[3])
    if isinstance(ended, Number):
        return int(bool(ended))
    return sum(map(bool, ended)) if isinstance(ended, (list, tuple)) else int((ended != 0).sum())


def _either(one: Any, other: Any) -> Any:
    if isinstance(one, (list, tuple)):
        return [a or b for a, b in zip(one, other, strict=True)]
    return (one != 0) | (other != 0)


def _is_at_hand(value: Any) -> bool:
    if isinstance(value, (Number, list, tuple)):
        return True
    return type(value).__module__ == "numpy" or getattr(value, "is_cpu", False) is True
