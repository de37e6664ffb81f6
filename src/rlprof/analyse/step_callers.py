"""Which line of the user's steps the environment: not the one that takes the time in it, but the one that calls it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rlprof.analyse.tree import grow_tree, phases_of
from rlprof.model.own_files import is_users
from rlprof.model.recording import Frame, Process
from rlprof.model.report import Place

_STEP: Final = "env.step"
#: What the methods are called that step an environment, or several.
_METHODS: Final = frozenset({"step", "step_wait", "step_async"})


def step_caller_of(process: Process) -> Place | None:
    """The user's line that most samples inside of env steps came from; None where no stack shows it."""
    phases = phases_of(process, grow_tree(process))
    samples, counts = process.samples, dict[Place, int]()
    found: dict[int, Place | None] = {}
    for path, frame, count in zip(samples.path.tolist(), samples.frame.tolist(), samples.count.tolist(), strict=True):
        if phases.get(path) != _STEP:
            continue
        if frame not in found:
            found[frame] = _caller(samples.frames, frame)
        place = found[frame]
        if place is not None:
            counts[place] = counts.get(place, 0) + count
    return max(counts, key=lambda place: counts[place]) if counts else None


def _caller(frames: Mapping[int, Frame], leaf: int) -> Place | None:
    """The nearest of the user's frames around the outermost method that steps."""
    stack = list(_outwards(frames, leaf))
    stepping = [index for index, frame in enumerate(stack) if frame.function.rpartition(".")[2] in _METHODS]
    outside = stack[stepping[-1] + 1 :] if stepping else []
    frame = next((frame for frame in outside if is_users(frame.file)), None)
    return Place(frame.file, frame.line, frame.function) if frame is not None else None


def _outwards(frames: Mapping[int, Frame], leaf: int) -> Iterator[Frame]:
    seen: set[int] = set()  # a damaged file could hold a circle
    identity: int | None = leaf
    while identity is not None and identity in frames and identity not in seen:
        seen.add(identity)
        yield frames[identity]
        identity = frames[identity].parent
