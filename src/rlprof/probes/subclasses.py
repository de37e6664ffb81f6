"""Wrapping methods of a class and of all its subclasses, those there are and those to come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rlprof.probes.arrivals import watch_arrivals
from rlprof.probes.patching import Patches

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def follow_subclasses(
    base: type, methods: Mapping[str, Wrap], patches: Patches, *, wrapped: Callable[[type], None] | None = None
) -> None:
    """Wrap `methods` wherever `base` or a class derived from it defines them itself, and say so of each such class."""

    def wrap_in(cls: type) -> None:
        found = [patches.method(cls, name, wrap) for name, wrap in methods.items()]
        if wrapped is not None and any(found):
            wrapped(cls)

    for cls in (base, *_descendants(base)):
        wrap_in(cls)
    patches.new_subclass(base, wrap_in)
    watch_arrivals(lambda cls: wrap_in(cls) if issubclass(cls, base) else None, patches)


def _descendants(base: Any) -> Iterator[type]:
    for cls in base.__subclasses__():
        yield cls
        yield from _descendants(cls)
