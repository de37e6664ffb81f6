"""Spans around functions that a person named: `--span module:Class.method=phase`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlprof.probes.importing import ImportWatch
from rlprof.probes.named_functions import NamedFunctions
from rlprof.probes.patching import Patches
from rlprof.record.decorate import profile_function
from rlprof.record.noted import note
from rlprof.record.targets import Target


class NamedSpans(NamedFunctions):
    """The functions to time."""

    def __init__(self, targets: Iterable[Target], patches: Patches) -> None:
        super().__init__(targets, _timed, patches, _note)
        _note(self)

    def start(self, watch: ImportWatch) -> None:
        for module in {target.module for target in self.missing}:
            if module != "__main__":
                watch.watch(module, self.loaded)


def _timed(target: Target, raw: Any) -> Any:
    return profile_function(target.name, phase=target.phase)(raw)


def _note(spans: NamedFunctions) -> None:
    missing = [target.text for target in spans.missing]
    note("spans", {"found": spans.found[:], "missing": missing, "no_function": spans.no_function[:]})
