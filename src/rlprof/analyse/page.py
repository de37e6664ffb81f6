"""What the page of a report draws besides the report itself: courses over time, lanes, trees, single iterations."""

from __future__ import annotations

from dataclasses import dataclass

from rlprof.analyse.apart import outside_windows
from rlprof.analyse.call_layout import CallTree
from rlprof.analyse.call_tree import call_trees
from rlprof.analyse.course import course_of
from rlprof.analyse.expectations import PhaseSpeed, speeds_of
from rlprof.analyse.iteration_timeline import IterationTimeline, slow_timelines
from rlprof.analyse.lanes import Lanes, lanes_of
from rlprof.analyse.memory_course import MemoryCurve, memory_curves
from rlprof.analyse.phase_course import PhaseCourse, phase_course_of
from rlprof.analyse.rollouts import RolloutTree, mean_rollouts, phase_totals
from rlprof.model.recording import Recording
from rlprof.model.report import Report


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Absent is None or empty: a part that was not recorded is not drawn."""

    course: PhaseCourse | None
    trees: tuple[CallTree, ...]
    lanes: Lanes | None
    memory: tuple[MemoryCurve, ...]
    iterations: tuple[IterationTimeline, ...]
    rollouts: tuple[RolloutTree, ...] = ()
    speeds: tuple[PhaseSpeed, ...] = ()


def page_figures(recording: Recording, report: Report) -> PageFigures:
    """All figures over time and by call that a report does not hold.

    Lanes and memory are of all processes and of all the time, windows of other profilers included: a worker goes on
    while its parent is looked at. Everything else is without the windows, as the report is.
    """
    apart = outside_windows(recording)
    return PageFigures(
        course=phase_course_of(apart, course_of(apart)),
        trees=call_trees(apart),
        lanes=lanes_of(recording),
        memory=memory_curves(recording),
        iterations=slow_timelines(apart),
        rollouts=tuple(tree for tree in mean_rollouts(phase_totals(report, recording)) if len(tree.parts) > 1),
        speeds=tuple(speeds_of(recording, report)),
    )
