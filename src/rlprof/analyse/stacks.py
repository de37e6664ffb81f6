"""What the stacks that were sampled in one part of the ledger have in common, by all of their frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from rlprof.analyse.ledger import Account
from rlprof.analyse.places import Sights, Spot
from rlprof.analyse.slices import part_of
from rlprof.analyse.tree import names_of
from rlprof.model.own_files import is_ours, is_users
from rlprof.model.phases import UNATTRIBUTED
from rlprof.model.recording import Frame

Name = tuple[str, str]  # file and function


def name_of(frame: Frame) -> Name:
    """A comprehension is part of the function it stands in."""
    return frame.file, frame.function.partition(".<locals>.<")[0]


def shares_of_functions(account: Account, part: str) -> dict[Name, float]:
    """Of the samples in a part, the share that each function was anywhere on the stack of."""
    samples = account.samples
    counts: dict[Name, int] = {}
    total = 0
    for frame, count in _in_part(account, part):
        total += count
        for name in {name_of(above) for above in callers(samples.frames, frame)}:
            counts[name] = counts.get(name, 0) + count
    return {name: count / total for name, count in counts.items()} if total else {}


def lines_on_stacks(account: Account, part: str) -> set[tuple[str, int]]:
    """All lines, as file and number, that samples in a part were at or below."""
    frames = account.samples.frames
    return {(above.file, above.line) for frame, _ in _in_part(account, part) for above in callers(frames, frame)}


def lines_in_common(account: Account, part: str, share: float) -> set[tuple[str, int]]:
    """Lines that at least this share of the samples in a part were at or below."""
    frames = account.samples.frames
    counts: dict[tuple[str, int], int] = {}
    total = 0
    for frame, count in _in_part(account, part):
        total += count
        for line in {(above.file, above.line) for above in callers(frames, frame)}:
            counts[line] = counts.get(line, 0) + count
    return {line for line, count in counts.items() if count >= share * total}


def callers(frames: Mapping[int, Frame], leaf: int) -> list[Frame]:
    """A stack from its leaf outwards."""
    stack: list[Frame] = []
    seen: set[int] = set()  # a damaged file could hold a circle
    identity: int | None = leaf
    while identity is not None and identity not in seen:
        seen.add(identity)
        frame = frames.get(identity)
        if frame is None:
            break
        stack.append(frame)
        identity = frame.parent
    return stack


def spots_below(account: Account, tops: Collection[tuple[str, ...]]) -> dict[Spot, int]:
    """The user's lines that ran in these operations or in what is inside of them, with the number of samples."""
    names = names_of(account.process, account.tree)
    inside = {number for number, path in names.items() if any(path[: len(top)] == top for top in tops)}
    sights = Sights(account.samples.frames)
    counts: dict[Spot, int] = {}
    for leaf, count in _in_paths(account, inside.intersection(account.lane_paths)):
        sight = sights.at(leaf)
        if sight is not None and sight.own:
            counts[sight.spot] = counts.get(sight.spot, 0) + count
    return counts


def outermost_with(account: Account, part: str, is_meant: Callable[[Frame], bool]) -> tuple[dict[Spot, int], int]:
    """The outermost such line of each stack in a part with the number of samples, and that of all samples there."""
    frames = account.samples.frames
    counts: dict[Spot, int] = {}
    total = 0
    for leaf, count in _in_part(account, part):
        total += count
        frame = next((above for above in reversed(callers(frames, leaf)) if is_meant(above)), None)
        if frame is not None:
            spot = Spot(frame.file, frame.line, name_of(frame)[1])
            counts[spot] = counts.get(spot, 0) + count
    return counts, total


def callers_with(account: Account, part: str, chosen: Callable[[list[Frame]], Frame | None]) -> dict[Spot, int]:
    """The line that was chosen of each stack in a part, from its leaf outwards, with the number of samples."""
    frames = account.samples.frames
    counts: dict[Spot, int] = {}
    for leaf, count in _in_part(account, part):
        frame = chosen(callers(frames, leaf))
        if frame is not None:
            spot = Spot(frame.file, frame.line, name_of(frame)[1])
            counts[spot] = counts.get(spot, 0) + count
    return counts


def files_below(account: Account, file: str, line: int) -> list[tuple[frozenset[str], int]]:
    """Of the stacks whose innermost line of the user's is this one: the libraries' files below it, and the samples."""
    frames = account.samples.frames
    found: list[tuple[frozenset[str], int]] = []
    for leaf, count in _in_paths(account, account.lane_paths):
        files: set[str] = set()
        for frame in callers(frames, leaf):
            if is_users(frame.file):
                if (frame.file, frame.line) == (file, line):
                    found.append((frozenset(files), count))
                break
            files.add(frame.file)
    return found


def stacks_in(account: Account, part: str) -> list[tuple[list[Frame], int]]:
    """The stacks that were sampled in a part, each from its leaf outwards, with the number of samples."""
    return [(callers(account.samples.frames, leaf), count) for leaf, count in _in_part(account, part)]


def _in_part(account: Account, part: str) -> list[tuple[int, int]]:
    return _in_paths(account, {i for i in account.lane_paths if (part_of(account, i) or UNATTRIBUTED) == part})


def _in_paths(account: Account, paths: Collection[int]) -> list[tuple[int, int]]:
    """The leaves of the stacks that were sampled in these paths, with the number of samples."""
    samples = account.samples
    chosen: dict[int, int] = {}
    for path, frame, count in zip(samples.path.tolist(), samples.frame.tolist(), samples.count.tolist(), strict=True):
        if path in paths:
            chosen[frame] = chosen.get(frame, 0) + count
    return list(chosen.items())


def waist(account: Account, part: str, share: float = 0.9) -> Frame | None:
    """The innermost line of the user's, outside of every library, that nearly all stacks of a part go through.

    Where they go through one function on several of its lines, the line of it that most of them go through.
    """
    frames = account.samples.frames
    lines: dict[tuple[str, int], _Passed] = {}
    functions: dict[Name, _Passed] = {}
    total = 0
    for leaf, count in _in_part(account, part):
        total += count
        users = _users_outside(frames, leaf)
        for depth, frame in enumerate(users):
            lines.setdefault((frame.file, frame.line), _Passed(depth, frame)).count += count
        for depth, frame in {name_of(frame): (depth, frame) for depth, frame in enumerate(users)}.values():
            functions.setdefault(name_of(frame), _Passed(depth, frame)).count += count
    narrow = [passed for passed in lines.values() if passed.count >= share * total]
    if narrow:
        return max(narrow, key=lambda passed: passed.depth).frame
    shared = [name for name, passed in functions.items() if passed.count >= share * total]
    if not shared:
        return None
    inner = max(shared, key=lambda name: functions[name].depth)
    return max((p for p in lines.values() if name_of(p.frame) == inner), key=lambda passed: passed.count).frame


@dataclass(slots=True)
class _Passed:
    """A line or function that stacks go through, how deep it was, and how many of them."""

    depth: int
    frame: Frame
    count: int = 0


def _users_outside(frames: Mapping[int, Frame], leaf: int) -> list[Frame]:
    """The user's frames from the outermost one inwards, up to the first call into a library."""
    found: list[Frame] = []
    for frame in reversed(callers(frames, leaf)):
        if is_users(frame.file):
            found.append(frame)
        elif found and not is_ours(frame.file):
            break
    return found


def spots_with(account: Account, part: str, is_meant: Callable[[Frame], bool]) -> dict[Spot, int]:
    """The user's lines below which such a frame was running, with the number of samples."""
    frames = account.samples.frames
    sights = Sights(frames)
    counts: dict[Spot, int] = {}
    for leaf, count in _in_part(account, part):
        sight = sights.at(leaf) if any(is_meant(frame) for frame in callers(frames, leaf)) else None
        if sight is not None and sight.own:
            counts[sight.spot] = counts.get(sight.spot, 0) + count
    return counts
