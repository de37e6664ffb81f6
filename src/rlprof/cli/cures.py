"""Treatments as cures to try: which there are, and which are tried unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rlprof.model.quickwins import Cure
from rlprof.treat.registry import KINDS, parse_treatment

#: Vector environments are in workers or not.
_EXCLUSIVE: Final = {"serial-vecenv": "vecenv", "subproc-vecenv": "vecenv"}
_HARMLESS: Final = (
    "inference-mode", "no-validate", "gc-freeze", "serial-vecenv", "subproc-vecenv",
    "start-method=fork", "start-method=forkserver",
)  # fmt: skip
_CHANGING: Final = (
    "optimizer=fused", "optimizer=foreach", "compile-acting", "matmul-precision=high", "flush-denormal", "mute-logging",
)  # fmt: skip


def cure_of(text: str) -> Cure:
    treatment = parse_treatment(text)
    kind = treatment.kind
    group = treatment.text if kind.id in ("skip", "replace") else _EXCLUSIVE.get(kind.id, kind.id)
    return Cure(treatment.text, kind.summary, treatment.permanent, kind.changes_results, kind.diagnosis_only, group)


def candidates(cores: Sequence[int], *, everything: bool) -> list[Cure]:
    """What is tried unasked, the likeliest first; with `everything`, what may change results, too.

    Pinned to half of the cores, processes wander less and share their caches; with one core there is nothing to pin to.
    """
    half = len(cores) // 2
    threads = sorted({1, max(half, 1)})
    pinned = [f"affinity={','.join(map(str, sorted(cores)[:half]))}"] if half else []
    texts = [*(f"threads={number}" for number in threads), *_HARMLESS, *pinned, *(_CHANGING if everything else ())]
    return [cure_of(text) for text in texts]


def list_cures() -> str:
    """All there are, each with its summary; those that may change results are marked."""
    width = max(len(kind.form) for kind in KINDS.values())
    lines = []
    for kind in KINDS.values():
        mark = "for diagnosis only" if kind.diagnosis_only else "may change results" if kind.changes_results else ""
        lines.append(f"{kind.form:<{width}}  {kind.summary}{f' ({mark})' if mark else ''}")
    return "\n".join(lines)
