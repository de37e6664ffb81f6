"""What a decorator says about gradients before the function runs."""

from __future__ import annotations

import sys
from typing import Any


def without_gradients(function: Any) -> bool:
    """Whether a function is decorated with `torch.no_grad()` or `torch.inference_mode()`: it never learns."""
    torch: Any = sys.modules.get("torch")
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if torch is None or code is None or not cells:
        return False
    held = dict(zip(code.co_freevars, cells, strict=False))
    try:
        makes = held["ctx_factory"].cell_contents
    except (KeyError, ValueError):  # another's decorator, or one that is not made yet
        return False
    return isinstance(getattr(makes, "__self__", None), (torch.no_grad, torch.inference_mode))
