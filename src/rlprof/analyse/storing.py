"""`rewards[step] = torch.tensor(reward).view(-1)`: the whole statement stores, and only its last act is seen as a span.

What leads up to it, converting and reshaping, is booked on the span around. The stack samples taken there say how much
of that span's own time passed on lines that store: so much is moved to the line's span, and the samples with it.
Nothing is added or lost. Only time that has no phase is moved: a line of a policy's forward is that, whatever else it
does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from rlprof.analyse.places import Sights
from rlprof.analyse.tree import SpanTree
from rlprof.model.kinds import SITE
from rlprof.model.phases import OTHER, UNATTRIBUTED
from rlprof.model.recording import Process, SampleTable

STORING: Final = "buffer.add"
#: Fewer samples of a span's own time say nothing about its lines.
FEWEST_SAMPLES: Final = 20


def with_whole_statements(
    process: Process, tree: SpanTree, phases: Mapping[int, str], self_ns: Mapping[int, float]
) -> tuple[SampleTable | None, Mapping[int, float]]:
    """The samples, those on statements that store moved there, and the self times that follow; None where none were."""
    storing = dict(_storing_sites(process, tree, phases))
    if not storing:
        return None, self_ns
    samples = process.samples
    sights = Sights(samples.frames)
    path, moved = samples.path.copy(), dict(self_ns)
    for around, sites in storing.items():
        rows = np.flatnonzero(samples.path == around)
        taken = int(samples.count[rows].sum())
        if taken < FEWEST_SAMPLES:
            continue
        for row in rows.tolist():
            sight = sights.at(int(samples.frame[row]))
            site = None if sight is None else _site_of(sites, sight.spot.file, sight.spot.line)
            if site is not None:
                path[row] = site
                part = self_ns[around] * int(samples.count[row]) / taken
                moved[around] -= part
                moved[site] += part
    return dataclasses.replace(samples, path=path), moved


def _storing_sites(
    process: Process, tree: SpanTree, phases: Mapping[int, str]
) -> Iterator[tuple[int, dict[tuple[str, int], int]]]:
    """Of each span without a phase that has such lines inside: (its path, the line's path by file and line)."""
    for around, below in tree.children.items():
        if phases[around] not in (OTHER, UNATTRIBUTED):
            continue
        sites = {}
        for child in below:
            if process.paths[child].kind == SITE and phases[child] == STORING:
                file, _, line = process.paths[child].name.rpartition(" ")[2].rpartition(":")
                if line.isdecimal():
                    sites[file, int(line)] = child
        if sites:
            yield around, sites


def _site_of(sites: Mapping[tuple[str, int], int], file: str, line: int) -> int | None:
    """The site at a line. Sites are named by the end of their file's path."""
    return next((site for (end, number), site in sites.items() if number == line and file.endswith(end)), None)
