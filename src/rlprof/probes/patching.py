"""Replacing functions of a library, and putting every one of them back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]

_MARK = "__rlprof_original__"


class Patches:
    """What was replaced, in order, so that undoing goes backwards."""

    def __init__(self) -> None:
        self._undo: list[tuple[Any, str, Any, Any]] = []  # owner, name, original, ours
        self._also: list[Callable[[], Any]] = []

    def method(self, owner: type, name: str, wrap: Wrap) -> bool:
        """Replace a method where the class itself defines it; False where it does not, or we were there before."""
        original = vars(owner).get(name)
        if not callable(original) or hasattr(original, _MARK):
            return False
        self._put(owner, name, original, wrap(original))
        return True

    def inherited(self, owner: type, name: str, wrap: Wrap) -> bool:
        """Give a class a wrapped method of its own where it has one from a base, which is left as it is."""
        if name in vars(owner) or not callable(getattr(owner, name, None)):
            return False

        def base(self: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(super(owner, self), name)(*args, **kwargs)  # asked for anew: bases are patched, too

        ours = wrap(base)
        functools.update_wrapper(ours, getattr(owner, name))
        setattr(ours, _MARK, None)
        setattr(owner, name, ours)
        self._undo.append((owner, name, None, ours))
        return True

    def function(self, module: Any, name: str, wrap: Wrap) -> bool:
        """Replace a module's function."""
        original = getattr(module, name, None)
        if not callable(original) or hasattr(original, _MARK):
            return False
        self._put(module, name, original, wrap(original))
        return True

    def _put(self, owner: Any, name: str, original: Any, ours: Callable[..., Any]) -> None:
        functools.update_wrapper(ours, original)
        setattr(ours, _MARK, original)
        setattr(owner, name, ours)
        self._undo.append((owner, name, original, ours))

    def new_subclass(self, base: Any, made: Callable[[type], None]) -> None:
        """Call `made` with every class that is derived from `base` from now on."""
        before = vars(base).get("__init_subclass__")

        def announce(cls: Any, /, **kwargs: Any) -> None:
            if before is not None:
                before.__get__(None, cls)(**kwargs)
            else:
                super(base, cls).__init_subclass__(**kwargs)
            made(cls)

        hook: Any = classmethod(announce)
        type.__setattr__(base, "__init_subclass__", hook)
        self._undo.append((base, "__init_subclass__", before, hook))

    def on_undo(self, action: Callable[[], Any]) -> None:
        """Something else to do when everything is put back."""
        self._also.append(action)

    def undo(self) -> None:
        """Put everything back that is still ours; what somebody replaced after us is theirs."""
        while self._also:
            self._also.pop()()
        while self._undo:
            owner, name, original, ours = self._undo.pop()
            if vars(owner).get(name) is not ours:
                continue
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
