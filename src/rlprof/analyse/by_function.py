"""Functions by how often they were on the sampled stacks: what is left to say where nothing was profiled by call."""

from __future__ import annotations

from dataclasses import dataclass

from rlprof.analyse.stacks import callers
from rlprof.model.recording import Frame, Process


@dataclass(frozen=True, slots=True)
class SampledFunction:
    """`samples` had the function anywhere on the stack, `own` at its end."""

    file: str
    function: str
    samples: int
    own: int
    share: float  # of all samples


def sampled_functions(process: Process, most: int) -> tuple[list[SampledFunction], int]:
    """The functions that most samples were in, and how many samples there are."""
    table = process.samples
    anywhere: dict[tuple[str, str], int] = {}
    at_end: dict[tuple[str, str], int] = {}
    total = 0
    for leaf, count in zip(table.frame.tolist(), table.count.tolist(), strict=True):
        stack = [_name(frame) for frame in callers(table.frames, leaf)]
        total += count
        for name in set(stack):
            anywhere[name] = anywhere.get(name, 0) + count
        if stack:
            at_end[stack[0]] = at_end.get(stack[0], 0) + count
    ranked = sorted(anywhere.items(), key=lambda item: (-item[1], item[0]))[:most]
    return [SampledFunction(*name, samples, at_end.get(name, 0), samples / total) for name, samples in ranked], total


def _name(frame: Frame) -> tuple[str, str]:
    return frame.file, frame.function
