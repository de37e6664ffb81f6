"""Which settings of a sweep make a curve over one parameter, and the law of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp

from rlprof.experiments.scaling import Point, fit_law
from rlprof.experiments.statistics import Centre
from rlprof.experiments.sweep_settings import number_of
from rlprof.model.sweep import Curve

#: Two points are a difference, not a curve.
FEWEST_NUMBERS = 3


def curves_of(
    parameters: Mapping[str, Sequence[str]], settings: Mapping[str, Mapping[str, str]], rates: Mapping[str, Centre]
) -> tuple[Curve, ...]:
    """For each parameter that is a number, one curve for every choice of the others that was measured often enough."""
    found: list[Curve] = []
    for parameter, values in parameters.items():
        if any(number_of(value) is None for value in values) or len(values) < FEWEST_NUMBERS:
            continue
        groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for name, setting in settings.items():
            others = tuple((key, value) for key, value in setting.items() if key != parameter)
            groups.setdefault(others, []).append(name)
        for others, names in groups.items():
            if len(names) >= FEWEST_NUMBERS:
                found.append(_curve(parameter, dict(others), names, settings, rates))
    return tuple(found)


def _curve(
    parameter: str,
    others: Mapping[str, str],
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, str]],
    rates: Mapping[str, Centre],
) -> Curve:
    numbers = {name: number_of(settings[name][parameter]) or 0.0 for name in names}
    ordered = sorted((name for name in names if name in rates), key=lambda name: numbers[name])
    return Curve(
        parameter,
        others,
        tuple(ordered),
        tuple(numbers[name] for name in ordered),
        fit_law([_point(numbers[name], rates[name]) for name in ordered]),
    )


def _point(number: float, rate: Centre) -> Point:
    return Point(number, exp(rate.mean), rate.error if rate.n > 1 else None, rate.df if rate.n > 1 else 0.0)
