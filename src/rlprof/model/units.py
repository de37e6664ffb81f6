"""How quantities read to a person: three significant digits, short units, a dash for what is absent."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

ABSENT: Final = "-"

_COUNT_UNITS: Final = (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12))
_BYTE_UNITS: Final = (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12))
_SHORT_UNITS: Final = (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0))
BYTES_PER_MB: Final = 1e6


def format_duration(seconds: float | None) -> str:
    """At most seven characters below a day: `820 ns`, `1.24 ms`, `59.9 s`, `12m 05s`, `3h 07m`, `12d 04h`."""
    if seconds is None:
        return ABSENT
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if seconds < 0.5e-9:
        return "0 s"
    if seconds < 99.95:
        return _scaled(seconds, _SHORT_UNITS)
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    minutes = round(seconds / 60)
    if minutes < 24 * 60:
        return f"{minutes // 60}h {minutes % 60:02d}m"
    hours = round(seconds / 3600)
    return f"{hours // 24}d {hours % 24:02d}h"


def format_count(amount: float | None) -> str:
    """Whole below ten million (`1,234,567`), scaled above (`12.3 M`)."""
    if amount is None:
        return ABSENT
    if abs(amount) < 1e7:
        return f"{amount:,.0f}" if float(amount).is_integer() else three_digits(amount)
    return _scaled(amount, _COUNT_UNITS)


def format_rate(per_second: float | None, unit: str = "steps/s") -> str:
    """`12,345 steps/s`, `3.21 steps/s`, `12.3 M steps/s`."""
    if per_second is None:
        return ABSENT
    number = f"{per_second:,.0f}" if 99.95 <= abs(per_second) < 1e7 else _scaled(per_second, _COUNT_UNITS)
    return f"{number} {unit}"


def format_bytes(size: float | None) -> str:
    """Decimal units: `1.50 GB` is 1.5e9 bytes."""
    if size is None:
        return ABSENT
    return "0 B" if size == 0 else _scaled(size, _BYTE_UNITS)


def format_megabytes(megabytes: float | None) -> str:
    """A size that the report holds in MB."""
    return ABSENT if megabytes is None else format_bytes(megabytes * BYTES_PER_MB)


def format_percent(share: float | None) -> str:
    """A share of one as a percentage with one decimal."""
    return ABSENT if share is None else f"{share * 100:.1f}%"


def format_ratio(ratio: float | None) -> str:
    """`1.25x`."""
    return ABSENT if ratio is None else f"{three_digits(ratio)}x"


def three_digits(number: float) -> str:
    """Three significant digits in plain notation."""
    size = abs(number)
    if size >= 99.95 or size == 0:
        return f"{number:,.0f}"
    if size >= 9.995:
        return f"{number:.1f}"
    return f"{number:.2f}" if size >= 0.0995 else f"{number:.2g}"


def _scaled(amount: float, units: tuple[tuple[str, float], ...]) -> str:
    """The amount in the largest unit that leaves at least 1 in front, with rounding taken into account."""
    for (symbol, size), (_, following) in pairwise(units):
        # 999.6 of one unit would round to 1000 of it, which the next unit says better.
        if abs(amount) < 0.9995 * following:
            return _with_unit(amount / size, symbol)
    symbol, size = units[-1]
    return _with_unit(amount / size, symbol)


def _with_unit(number: float, symbol: str) -> str:
    digits = f"{number:.0f}" if symbol in ("ns", "B") else three_digits(number)
    return f"{digits} {symbol}".rstrip()
