"""Replacing functions of a library, and putting every one of them back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from rlprof.probes.copies import replace_copies

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]

ORIGINAL = "__rlprof_original__"  # the attribute of a replacement that says what it replaced
PLAIN = "__rlprof_plain__"  # of a function that asks for an inherited method anew: the method without any of ours
_order = count()

_Replaced = tuple[int, Any, str, Any, Any]  # when, owner, name, original, ours


def is_patched(value: Any) -> bool:
    """Whether this is a replacement of ours."""
    return isinstance(getattr(value, "__dict__", None), dict) and ORIGINAL in value.__dict__


class Patches:
    """What was replaced, in order, so that undoing goes backwards."""

    def __init__(self) -> None:
        self._undo: list[_Replaced] = []
        self._also: list[Callable[[], Any]] = []
        self.functions: list[tuple[Any, Any]] = []  # original, ours: others may hold either by a name of their own

    def method(self, owner: type, name: str, wrap: Wrap) -> bool:
        """Replace a method where the class itself defines it; False where it does not, or we were there before."""
        original = vars(owner).get(name)
        if not callable(original) or hasattr(original, ORIGINAL):
            return False
        self._put(owner, name, original, wrap(original))
        return True

    def method_if_allowed(self, owner: type, name: str, wrap: Wrap) -> bool:
        """The same for a class of anybody's making, whose metaclass may refuse."""
        try:
            return self.method(owner, name, wrap)
        except (TypeError, AttributeError):
            return False

    def inherited(self, owner: type, name: str, wrap: Wrap) -> bool:
        """Give a class a wrapped method of its own where it has one from a base, which is left as it is."""
        if name in vars(owner) or not callable(getattr(owner, name, None)):
            return False

        def base(self: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(super(owner, self), name)(*args, **kwargs)  # asked for anew: bases are patched, too

        plain = getattr(owner, name)
        setattr(base, PLAIN, plain)
        ours = wrap(base)
        functools.update_wrapper(ours, plain)
        setattr(ours, ORIGINAL, None)
        setattr(owner, name, ours)
        self._undo.append((next(_order), owner, name, None, ours))
        return True

    def function(self, module: Any, name: str, wrap: Wrap) -> bool:
        """Replace a module's function."""
        original = getattr(module, name, None)
        if not callable(original) or hasattr(original, ORIGINAL):
            return False
        ours = wrap(original)
        self._put(module, name, original, ours)
        ours.__module__ = module.__name__  # pickle looks a function up there and must find this very one
        self.functions.append((original, ours))
        return True

    def _put(self, owner: Any, name: str, original: Any, ours: Callable[..., Any]) -> None:
        functools.update_wrapper(ours, original)
        setattr(ours, ORIGINAL, original)
        setattr(owner, name, ours)
        self._undo.append((next(_order), owner, name, original, ours))

    def attribute(self, owner: Any, name: str, ours: Any) -> None:
        """Put something of ours in place of whatever `owner` itself has there, or adds to what it inherits."""
        before = vars(owner).get(name)
        setattr(owner, name, ours)
        self._undo.append((next(_order), owner, name, before, ours))

    def put_back(self, owner: Any, name: str) -> None:
        """Undo one replacement before the others."""
        for entry in self._undo:
            if entry[1] is owner and entry[2] == name:
                self._undo.remove(entry)
                _restore(entry)
                return

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
        setattr(hook, ORIGINAL, before)
        type.__setattr__(base, "__init_subclass__", hook)
        self._undo.append((next(_order), base, "__init_subclass__", before, hook))

    def on_undo(self, action: Callable[[], Any]) -> None:
        """Something else to do when everything is put back."""
        self._also.append(action)

    def undo(self) -> None:
        """Put everything back that is still ours; what somebody replaced after us is theirs."""
        undo_all([self])

    def take(self) -> list[_Replaced]:
        """What is to be put back, which from now on is the caller's to do."""
        while self._also:
            self._also.pop()()
        taken, self._undo = self._undo, []
        return taken

    def take_functions(self) -> list[tuple[Any, Any]]:
        taken, self.functions = self.functions, []
        return taken


def undo_all(several: Sequence[Patches]) -> None:
    """Undo them together, newest first: one may have replaced what another had put there."""
    for entry in sorted((entry for patches in several for entry in patches.take()), key=itemgetter(0), reverse=True):
        _restore(entry)
    replace_copies((ours, original) for patches in several for original, ours in patches.take_functions())


def _restore(replaced: _Replaced) -> None:
    _, owner, name, original, ours = replaced
    if vars(owner).get(name) is not ours:
        return
    if original is None:
        delattr(owner, name)
    else:
        setattr(owner, name, original)
