"""What the page of a report draws besides the report itself: courses over time, lanes, trees, single iterations."""

from __future__ import annotations

from dataclasses import dataclass

from rlprof.analyse.call_layout import CallTree
from rlprof.analyse.call_tree import call_trees
from rlprof.analyse.course import course_of
from rlprof.analyse.iteration_timeline import IterationTimeline, slow_timelines
from rlprof.analyse.lanes import Lanes, lanes_of
from rlprof.analyse.memory_course import MemoryCurve, memory_curves
from rlprof.analyse.phase_course import PhaseCourse, phase_course_of
from rlprof.model.recording import Recording


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Absent is None or empty: a part that was not recorded is not drawn."""

    course: PhaseCourse | None
    trees: tuple[CallTree, ...]
    lanes: Lanes | None
    memory: tuple[MemoryCurve, ...]
    iterations: tuple[IterationTimeline, ...]


def page_figures(recording: Recording) -> PageFigures:
    """All figures over time and by call that a report does not hold."""
    return PageFigures(
        course=phase_course_of(recording, course_of(recording)),
        trees=call_trees(recording),
        lanes=lanes_of(recording),
        memory=memory_curves(recording),
        iterations=slow_timelines(recording),
    )
