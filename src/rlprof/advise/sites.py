"""Call sites: lines of the user's that take values out of tensors, move them, or build them from lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rlprof.advise.lines import most_together
from rlprof.advise.steps import in_training
from rlprof.model.own_files import is_users
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Drilldown, LineEntry, Place, Report

SYNCS: Final = (
    ".item()", ".tolist()", "float(tensor)", "int(tensor)", "bool(tensor)", ".cpu()", ".numpy()", "np.asarray(tensor)",
    ".to()",
)  # fmt: skip
FROM_LISTS: Final = ("torch.tensor(list)", "torch.as_tensor(list)")

_PLACE: Final = re.compile(r"^(?P<file>.+):(?P<line>\d+)$")


@dataclass(slots=True)
class Site:
    """What the calls from one line took, over all spans they happened in."""

    place: Place
    what: set[str] = field(default_factory=set)
    calls: int = 0
    seconds: float = 0.0
    calls_by_phase: dict[str, int] = field(default_factory=dict)  # of the span around
    on_device: bool = False

    def mostly_in(self, phase: str) -> bool:
        return 2 * self.calls_by_phase.get(phase, 0) > self.calls


def user_sites(recording: Recording, report: Report, whats: Iterable[str]) -> list[Site]:
    """Lines of the user's that make such calls in the main thread, the longest first; evaluations apart."""
    operations = in_training(report)
    phases = {entry.path: entry.phase for entry in operations}
    known = _Files(recording.main.samples.frames.values())
    sites: dict[tuple[str, int], Site] = {}
    for entry in operations:
        found = _parsed(entry.path[-1], whats)
        place = known.place(found[1], found[2]) if found is not None else None
        if found is None or place is None:
            continue
        site = sites.setdefault((place.file, place.line), Site(place))
        around = phases.get(entry.path[:-1], UNATTRIBUTED)
        site.what.add(found[0])
        site.calls += entry.calls
        site.seconds += entry.total_seconds
        site.calls_by_phase[around] = site.calls_by_phase.get(around, 0) + entry.calls
        site.on_device = site.on_device or entry.phase.startswith("transfer.")
    return sorted(sites.values(), key=lambda site: -site.seconds)


def lines_of(report: Report, site: Site) -> list[LineEntry]:
    """What the samples say of a site's line, in the phases that its calls happened in: indexing, the loop around."""
    return [line for part in report.drilldown or () for line in _in_part(part, site)]


def most_of(report: Report, sites: Iterable[Site]) -> float:
    """The most that the lines of some sites took together: by their calls, or by the samples' high end."""
    chosen = list(sites)
    sampled = 0.0
    for part in report.drilldown or ():
        lines = [line for site in chosen for line in _in_part(part, site)]
        sampled += most_together(part, lines)
    return max(sampled, sum(site.seconds for site in chosen))


def _in_part(part: Drilldown, site: Site) -> Iterator[LineEntry]:
    if part.part in site.calls_by_phase or part.part.startswith("transfer."):
        place = (site.place.file, site.place.line)
        yield from (line for line in part.lines if line.own and (line.file, line.line) == place)


def _parsed(name: str, whats: Iterable[str]) -> tuple[str, str, int] | None:
    for what in whats:
        if name.startswith(what + " "):
            match = _PLACE.match(name[len(what) + 1 :])
            return (what, match["file"], int(match["line"])) if match else None
    return None


class _Files:
    """Sites are named by short paths; the samples know whole ones."""

    def __init__(self, frames: Iterable[Frame]) -> None:
        self._functions: dict[tuple[str, int], str] = {}
        for frame in frames:
            self._functions.setdefault((frame.file, frame.line), frame.function.partition(".<locals>.<")[0])
        self._files = {file for file, _ in self._functions}

    def place(self, short: str, line: int) -> Place | None:
        """None where the file is a library's. One that no sample knows is the user's if it is in no folder."""
        file = next((file for file in sorted(self._files) if _ends_with(file, short)), None)
        if file is None:
            folder = "/" in short or "\\" in short
            absolute = short.startswith(("/", "\\")) or short[1:2] == ":"
            if folder and not (absolute and is_users(short)):
                return None
            file = short
        return Place(file, line, self._functions.get((file, line), "")) if is_users(file) else None


def _ends_with(file: str, short: str) -> bool:
    return file == short or file.endswith(("/" + short, "\\" + short))
