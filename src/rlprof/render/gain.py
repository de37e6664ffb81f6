"""What a faster part can bring, beside what it did bring."""

from __future__ import annotations

from rlprof.analyse.amdahl import Gain
from rlprof.model.comparison import Overall
from rlprof.model.units import format_percent
from rlprof.render.comparison_words import interval, ratio


def gain_lines(part: str, alone: str, gain: Gain, measured: Overall) -> list[str]:
    """`part` of the whole became faster; `alone` says what was measured by itself."""
    rows = [
        (alone, ratio(gain.faster), ""),
        (f"{part}, share of training with A", format_percent(gain.share), ""),
        ("so training, at most", ratio(gain.expected), "1 / (1 - share + share / speed-up)"),
    ]
    if gain.bound is not None:
        rows.append((f"and if the {part} took no time", ratio(gain.bound), "1 / (1 - share)"))
    rows.append(("training, measured", ratio(measured.ratio), interval(measured.low, measured.high)))
    width = max(len(name) for name, _, _ in rows)
    lines = [f"  {name:<{width}}  {value:>7}  {note}".rstrip() for name, value, note in rows]
    return [f"What a faster {part} can bring", *lines]
