"""The program's own code: functions that were named, and classes and functions that are recognised."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlprof.probes.advantages import NAMES as ADVANTAGES
from rlprof.probes.advantages import timed_advantage
from rlprof.probes.classes import watch_classes
from rlprof.probes.compiling import follow_compiler
from rlprof.probes.evaluations import NAMES as EVALUATIONS
from rlprof.probes.evaluations import timed_evaluation
from rlprof.probes.importing import ImportWatch
from rlprof.probes.lookout import Lookout
from rlprof.probes.looks_apart import OneAtATime
from rlprof.probes.named_spans import NamedSpans
from rlprof.probes.patching import Patches
from rlprof.probes.policy_methods import watch_policy_methods
from rlprof.probes.recognise import BUFFER, ENV, Recognition, tells_something
from rlprof.probes.teachers import FUNCTIONS as TEACHERS
from rlprof.probes.teachers import timed_teacher, watch_teacher_methods
from rlprof.probes.telling_names import TellingNames
from rlprof.record.options import Options
from rlprof.record.targets import Target, parse_name, parse_span


def watch_user_code(options: Options, watch: ImportWatch, patches: Patches) -> None:
    """Begin to look at the program's own classes and functions; everything is undone with `patches`."""
    if not options.probes and not options.spans:
        return
    code = _UserCode(options, patches)
    if code.spans is not None:
        code.spans.start(watch)
    watch.watch("torch", lambda torch: follow_compiler(torch, patches))
    watch_classes(code.made, patches)
    Lookout(code.look).start(patches)


class _UserCode:
    def __init__(self, options: Options, patches: Patches) -> None:
        self._patches = patches
        self._one = OneAtATime()
        self.spans = NamedSpans(map(parse_span, options.spans), patches) if options.spans else None
        exceptions = {role: [*map(parse_name, names)] for role, names in _exceptions(options).items()}
        self._recognition = Recognition(patches, exceptions) if options.probes else None
        self._by_name = _by_name(patches, exceptions) if options.probes else ()
        self._not_teachers = exceptions["teacher"]

    def made(self, cls: type) -> None:
        with self._one:
            if self.spans is not None:  # first: what was named is not guessed about
                self.spans.made(cls)
                self.spans.look()
            if self._recognition is not None and tells_something(cls):
                self._recognition.made(cls)
                for names in self._by_name:
                    names.made(cls)
                watch_policy_methods(cls, self._patches)
                watch_teacher_methods(cls, self._patches, self._not_teachers)

    def look(self, thorough: bool) -> bool:
        """Whether there is more to look for."""
        if self._one.is_taken:  # there will be other moments
            return True
        with self._one:
            more = self.spans is not None and self.spans.look()
            for names in self._by_name:
                names.look(thorough)
        return more or bool(self._by_name)


def _by_name(patches: Patches, exceptions: Mapping[str, Collection[Target]]) -> tuple[TellingNames, ...]:
    return (
        TellingNames(ADVANTAGES, ADVANTAGES, timed_advantage, patches, exceptions["advantage"]),
        TellingNames(EVALUATIONS, EVALUATIONS, timed_evaluation, patches, exceptions["evaluation"]),
        TellingNames(TEACHERS, TEACHERS, timed_teacher, patches, exceptions["teacher"]),
    )


def _exceptions(options: Options) -> dict[str, tuple[str, ...]]:
    return {
        ENV: options.not_env,
        BUFFER: options.not_buffer,
        "advantage": options.not_advantage,
        "evaluation": options.not_evaluation,
        "teacher": options.not_teacher,
    }
