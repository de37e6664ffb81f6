"""What became of the treatments of this process, kept as a fact of its recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, Final

from rlprof.probes.importing import ImportWatch
from rlprof.probes.patching import Patches
from rlprof.record.complain import complain
from rlprof.record.noted import note
from rlprof.treat.treatment import Treatment

FACT: Final = "treatments"


class OneTreatment:
    """One treatment in this process: the scene it acts in, and whether it has taken effect."""

    def __init__(self, treatment: Treatment, watch: ImportWatch, changed: Callable[[], None]) -> None:
        self.treatment = treatment
        self.patches = Patches()
        self.is_applied = False
        self.why: str | None = "it has nothing to apply to"
        self._watch = watch
        self._changed = changed
        self._needed = list(treatment.kind.needs)
        if self._needed:
            self.why = f"the program imports no {' or '.join(self._needed)}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Methods of a script's classes travel to other processes whole: there, nobody keeps account through them."""
        return _elsewhere, (self.treatment.text,)

    def start(self) -> None:
        self._carefully(lambda: self.treatment.kind.apply(self.treatment.argument, self))

    def when_loaded(self, module: str, act: Callable[[Any], None]) -> None:
        def loaded(found: ModuleType) -> None:
            self._carefully(partial(act, found))

        self._watch.watch(module, loaded)

    def applied(self) -> None:
        if not self.is_applied:
            self.is_applied, self.why = True, None
            self._changed()

    def waits(self, why: str) -> None:
        if not self.is_applied:
            self.why = why
            self._changed()

    def refuse(self, why: str) -> None:
        self.is_applied, self.why = False, why
        self._changed()

    def entry(self) -> dict[str, Any]:
        return {"text": self.treatment.text, "applied": self.is_applied, "why": self.why}

    def _carefully(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            self.patches.undo()
            self.refuse(f"it is not understood here: {error!r}")
            complain(f"treatment {self.treatment.text}", f"the treatment {self.treatment.text} failed: {error!r}")


def _elsewhere(text: str) -> OneTreatment:
    from rlprof.treat.registry import parse_treatment

    return OneTreatment(parse_treatment(text), ImportWatch(), lambda: None)


class Treatments:
    """All treatments of this process, from `start` to `stop`."""

    def __init__(self, treatments: Sequence[Treatment]) -> None:
        self._watch = ImportWatch()
        self._all = [OneTreatment(treatment, self._watch, self._note) for treatment in treatments]

    def start(self) -> None:
        self._note()
        self._watch.start()
        for one in self._all:
            one.start()

    def stop(self) -> None:
        self._watch.stop()
        for one in reversed(self._all):
            one.patches.undo()

    def _note(self) -> None:
        note(FACT, [one.entry() for one in self._all])
