"""In what the two sides differ besides the change under test, and whether that forbids holding them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rlprof.analyse.treatments import treatments_of
from rlprof.model.comparison import Difference
from rlprof.model.recording import Recording

#: Another machine, or another part of it: its numbers say nothing about the change.
_MACHINE: Final = ("host", "cpu", "cores", "cores_usable", "cpu_quota", "memory_bytes", "gpu")
#: May be the very change under test, so they are shown and not refused.
_SOFTWARE: Final = (
    "system", "python", "implementation", "numpy", "torch", "gymnasium", "stable_baselines3", "torchrl", "tensordict",
    "ray", "torch_threads", "torch_interop_threads", "git_commit",
)  # fmt: skip
_UNSET: Final = "-"
ARGUMENTS: Final = "arguments"
TREATMENTS: Final = "treatments"


def environment_differences(baseline: Sequence[Recording], candidate: Sequence[Recording]) -> tuple[Difference, ...]:
    """Facts that differ between the sides, those that make them incomparable first."""
    facts = (*((name, True) for name in _MACHINE), *((name, False) for name in _SOFTWARE))
    found = [
        _difference(name, [_fact(r, name) for r in baseline], [_fact(r, name) for r in candidate], refuses)
        for name, refuses in facts
    ]
    for variable in sorted({name for r in (*baseline, *candidate) for name in _variables(r)}):
        mine, theirs = ([_variables(r).get(variable, _UNSET) for r in side] for side in (baseline, candidate))
        found.append(_difference(variable, mine, theirs, False))
    found.append(_difference(TREATMENTS, _treatments(baseline), _treatments(candidate), False))
    found.append(_difference(ARGUMENTS, _arguments(baseline), _arguments(candidate), False))
    return tuple(difference for difference in found if difference is not None)


def _difference(fact: str, a: Sequence[str], b: Sequence[str], incomparable: bool) -> Difference | None:
    mine, theirs = _distinct(a), _distinct(b)
    if mine == theirs:
        return None
    if _UNSET in (mine, theirs) and incomparable:
        return Difference(fact, mine, theirs, incomparable=False)  # not known is not different
    return Difference(fact, mine, theirs, incomparable)


def _distinct(values: Iterable[str]) -> str:
    return ", ".join(sorted(set(values)))


def _fact(recording: Recording, name: str) -> str:
    value: Any = recording.main.facts.get(name)
    if isinstance(value, Mapping):
        value = value.get("version") or value.get("name")
    if name == "cpu_quota" and isinstance(value, float):
        value = f"{value:g}"
    return _UNSET if value in (None, "") else str(value)


def _variables(recording: Recording) -> dict[str, str]:
    found = recording.main.facts.get("environment")
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, Mapping) else {}


def _arguments(recordings: Sequence[Recording]) -> list[str]:
    return [" ".join(recording.main.argv) for recording in recordings]


def _treatments(recordings: Sequence[Recording]) -> list[str]:
    return [", ".join(entry.text for entry in treatments_of(r) if entry.applied) or _UNSET for r in recordings]


def refusal(differences: Iterable[Difference]) -> str | None:
    """Why the two sides must not be compared, in one line; None where they may."""
    bad = [d for d in differences if d.incomparable]
    if not bad:
        return None
    said = "; ".join(f"{d.fact}: {d.baseline} against {d.candidate}" for d in bad[:4])
    more = f" and {len(bad) - 4} more" if len(bad) > 4 else ""
    return f"these were not measured under the same conditions ({said}{more})"
