"""`render-cost`: pictures are drawn that nobody looks at, or larger than they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rlprof.advise.bounds import training_seconds
from rlprof.advise.findings import Claim, Saving
from rlprof.advise.lines import (
    evidence_of,
    main_operations,
    named,
    outermost,
    own_lines,
    part_named,
    place_of,
    places,
    together,
)
from rlprof.analyse.ledger import open_account
from rlprof.analyse.stacks import callers_with, waist
from rlprof.model.own_files import is_users
from rlprof.model.recording import Frame, Recording
from rlprof.model.report import Finding, LineEntry, Operation, Place, Report, Severity
from rlprof.model.units import format_count, format_duration

RULE: Final = "render-cost"
RENDER: Final = "env.render"
ENV_STEP: Final = "env.step"
RENDERING: Final = "render"
FEWEST_FRAMES: Final = 10
FEWEST_SAMPLES: Final = 30
#: Of the run: frames that take less are worth having, for all we know.
SMALLEST_OF_RUN: Final = 0.1
#: Of env.step: what drawing by a library must take.
SMALLEST_SHARE: Final = 0.2

_DRAWS: Final = re.compile(
    r"[\\/](PIL|cv2|pygame|matplotlib|skimage|imageio|pyglet|torchvision|moviepy|scipy[\\/]ndimage)[\\/]|rendering\.py$"
)
_RESIZES: Final = re.compile(r"resize|thumbnail|rescale|reduce|interpolate|zoom|spline_filter", re.IGNORECASE)


def render_cost(recording: Recording, report: Report) -> Iterator[Finding]:
    """Speaks of frames that the program asks for beside the steps, and of libraries that draw within them. What steps
    themselves render may be what the agent sees: that is information.
    """
    frames = outermost(main_operations(report), RENDER)
    beside = [entry for entry in frames if ENV_STEP not in entry.path]
    if sum(entry.calls for entry in beside) >= FEWEST_FRAMES:
        yield from _asked_for(recording, report, beside)
    drawn = list(_drawn_in_steps(report))
    yield from drawn
    inside = [entry for entry in frames if ENV_STEP in entry.path]
    if not drawn and sum(entry.calls for entry in inside) >= FEWEST_FRAMES:
        yield from _asked_for(recording, report, inside, at_most="info")


def _asked_for(
    recording: Recording, report: Report, frames: list[Operation], at_most: Severity = "critical"
) -> Iterator[Finding]:
    calls, seconds = sum(entry.calls for entry in frames), sum(entry.total_seconds for entry in frames)
    lines = own_lines(part_named(report, RENDER))
    first = _asking_lines(recording)
    where = tuple(dict.fromkeys((*first, *(place_of(line) for line in lines))))[:3]
    if not where or seconds < SMALLEST_OF_RUN * training_seconds(report):
        return
    steps = report.throughput.env_steps
    each = f", {calls / steps:.3g} for each env step" if steps else ""
    yield from Claim(
        RULE,
        f"{format_count(calls)} frames are drawn{each}: {format_duration(seconds)}",
        Saving(0.0, seconds),
        where,
        f"{where[0].file}:{where[0].line} draws a frame ({format_duration(seconds / calls)} each): call `env.render()` "
        "only in steps whose frame is kept (`if recording:`), record one episode in a hundred (gymnasium's "
        "`RecordVideo(episode_trigger=...)`), make the training environment with `render_mode=None`, and draw at the "
        "size that is looked at",
        {
            "phases": [RENDER],
            "frames": calls,
            "frames_per_env_step": calls / steps if steps else None,
            "render_seconds": seconds,
            "seconds_per_frame": seconds / calls,
            "lines": evidence_of(lines),
        },
        at_most=at_most,
    ).findings(report)


def _asking_lines(recording: Recording) -> tuple[Place, ...]:
    """The line that asks for frames: one of a wrapper's, where a library calls that one's step."""
    account = open_account(recording.main)
    asking = callers_with(account, RENDER, _asks)
    if asking:
        spot = max(asking, key=lambda one: asking[one])
        return (Place(spot.file, spot.line, spot.function),)
    frame = waist(account, RENDER)
    return (Place(frame.file, frame.line, frame.function),) if frame is not None else ()


def _asks(stack: list[Frame]) -> Frame | None:
    """The user's line that calls the outermost `render` of a stack, which begins with its innermost frame."""
    drawing = [depth for depth, frame in enumerate(stack) if frame.function.rpartition(".")[2] == RENDERING]
    return next((frame for frame in stack[drawing[-1] + 1 :] if is_users(frame.file)), None) if drawing else None


def _drawn_in_steps(report: Report) -> Iterator[Finding]:
    """Pixels may be what the agent sees: then only the resizing of what was drawn too large is surely too much."""
    part = part_named(report, ENV_STEP)
    if part is None or part.samples < FEWEST_SAMPLES:
        return
    drawing = [line for line in own_lines(part) if _library_seconds(line) > line.seconds / 2]
    if not drawing:
        return
    seconds, least, most = together(part, drawing)
    if least < SMALLEST_SHARE * part.seconds:
        return
    resizes = any(_RESIZES.search(call.function) for line in drawing for call in line.calling)
    yield from Claim(
        RULE,
        f"drawing and resizing pictures takes {format_duration(seconds)} of env.step",
        Saving(0.0, most),
        places(drawing),
        f"{named(drawing[0])}: draw at the size that the agent sees instead of resizing afterwards, keep what does not "
        "change between steps as a background, or write the pixels into an array; where frames come in one size only, "
        "take every n-th pixel (`frame[::2, ::2]`) or a quick resize (`cv2.resize`); if the agent does not see them, "
        "draw none while training",
        {
            "phases": [ENV_STEP],
            "drawing_seconds": seconds,
            "drawing_high_seconds": most,
            "share_of_env_step": seconds / part.seconds,
            "resizes": resizes,
            "lines": evidence_of(drawing),
        },
        at_most="critical" if resizes else "info",
    ).findings(report)


def _library_seconds(line: LineEntry) -> float:
    return sum(call.seconds for call in line.calling if _DRAWS.search(call.file))
