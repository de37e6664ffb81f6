"""One line instead of `rlprof run`: a callback, a wrapper and a hook. Each imports its library when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rlprof.integrations.gymnasium import ProfiledEnv
    from rlprof.integrations.sb3 import RlprofCallback
    from rlprof.integrations.torchrl import profile_trainer

__all__ = ["ProfiledEnv", "RlprofCallback", "profile_trainer"]

_PLACES: Final = {"ProfiledEnv": "gymnasium", "RlprofCallback": "sb3", "profile_trainer": "torchrl"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
