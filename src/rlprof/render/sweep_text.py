"""A sweep in sentences: the same on a terminal and in a document."""

from __future__ import annotations

from collections.abc import Iterator

from rlprof.experiments.sweep_words import RATE_UNITS, said
from rlprof.model.sweep import Curve, Estimate, Law, Rival, Setting, Sweep
from rlprof.model.units import format_duration, format_percent, format_rate, three_digits
from rlprof.render.comparison_words import WORDS, interval, ratio


def headline(found: Sweep) -> str:
    """How much was measured."""
    planned = f" of {found.rounds_planned}" if found.rounds < found.rounds_planned else ""
    kind = ", one parameter at a time" if found.one_at_a_time else ""
    plural = "" if found.rounds == 1 and not planned else "s"
    return f"{len(found.settings)} settings{kind}, {found.rounds}{planned} round{plural} in random order"


def rate(found: Sweep, value: float | None) -> str:
    return format_rate(value, RATE_UNITS[found.per])


def likely(setting: Setting) -> str:
    if setting.low is None or setting.high is None or setting.rate is None:
        return ""
    if setting.high > 3 * setting.rate:  # digits would only look as if they said something
        return "anything"
    return f"{three_digits(setting.low)} to {three_digits(setting.high)}"


def verdict(setting: Setting, best: str | None) -> str:
    if setting.name == best:
        return "best"
    return WORDS[setting.against_best] if setting.against_best is not None else trouble(setting)


def trouble(setting: Setting) -> str:
    """How its trials failed, if any did."""
    parts = [
        f"{setting.failed} failed" if setting.failed else "",
        f"{setting.timed_out} hung" if setting.timed_out else "",
    ]
    return ", ".join(part for part in parts if part)


def phases(setting: Setting, most: int = 3) -> str:
    return ", ".join(f"{row.phase} {row.share:.0%}" for row in setting.phases[:most])


def notes(found: Sweep) -> Iterator[str]:
    """What became of settings that did not simply work."""
    for setting in found.settings:
        given_up = f"given up, as it {setting.given_up}" if setting.given_up else ""
        parts = [part for part in (trouble(setting), given_up) if part]
        if parts:
            yield f"{said(setting.values)}: {'; '.join(parts)}"


def curve_title(curve: Curve) -> str:
    return f"{curve.parameter} with {said(curve.at)}" if curve.at else curve.parameter


def law_lines(found: Sweep, curve: Curve) -> Iterator[str]:
    """The law in words; where there is none, why."""
    law = curve.law
    if law.cannot_tell is not None or law.rate_of_one is None or law.serial is None or law.coherency is None:
        yield f"Cannot tell a law: {law.cannot_tell}."
        return
    yield (
        f"One brings {rate(found, law.rate_of_one.value)} ({_range(law.rate_of_one)}). "
        f"Serial part (contention) {_share(law.serial)}, coherency {_share(law.coherency)}."
    )
    yield f"The points lie {format_percent(law.misfit)} from the curve, typically{_explained(law)}."
    yield from _turns(found, curve)


def _turns(found: Sweep, curve: Curve) -> Iterator[str]:
    law = curve.law
    if law.knee is not None:
        near = f"{_number(law.knee.low)} to {_number(law.knee.high)}"
        where = f"{curve.parameter}={_number(law.knee.value)} ({near})"
        yield f"Knee at {where}: from there, twice as many bring less than a tenth more."
    else:
        yield f"No knee: it still grows at {curve.parameter}={_number(curve.numbers[-1])}, so more is worth a try."
    if law.peak is not None:
        yield f"Peak at {curve.parameter}={_number(law.peak)}: beyond it, more is slower."
    elif law.ceiling is not None:
        yield f"It levels off: no number of them brings more than {rate(found, law.ceiling)}."


def _explained(law: Law) -> str:
    return f"; R² {law.r_squared:.3f}" if law.r_squared is not None else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _range(estimate: Estimate) -> str:
    return f"{three_digits(estimate.low)} to {three_digits(estimate.high)}"


def _share(estimate: Estimate) -> str:
    return f"{_percent(estimate.value)} ({_percent(estimate.low)} to {_percent(estimate.high)})"


def _percent(share: float) -> str:
    """Small shares matter here: coherency counts once for every pair."""
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def rival_line(rival: Rival, found: Sweep) -> str:
    values = next((setting.values for setting in found.settings if setting.name == rival.setting), {})
    kind = "pair" if rival.pairs == 1 else "pairs"
    shown = interval(rival.low, rival.high)
    likely_text = f", likely {shown}" if shown else ""
    return f"{said(values)}: {WORDS[rival.verdict]}, {ratio(rival.ratio)} the speed{likely_text} ({rival.pairs} {kind})"


def trial_time(setting: Setting) -> str:
    return format_duration(setting.trial_seconds)
