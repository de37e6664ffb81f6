"""How charts look: a column's width, type of 7 points and more, tones that differ in grey, and hatches."""

from __future__ import annotations

import contextlib
import logging
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rlprof.analyse.bottlenecks import SEPARATOR
from rlprof.analyse.chart_data import Group
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption

COLUMN_INCHES: Final = 3.4  # a column of a two-column page
PANEL_INCHES: Final = 2.5
#: Tone and hatch by group; printed in grey the three are 30, 65 and 90% bright.
FILLS: Final[dict[Group, tuple[str, str]]] = {
    "collecting": ("#1f4e79", ""),
    "learning": ("#e08e45", "////"),
    "other": ("#e3e3e3", "...."),
}
BASELINE: Final = ("#e3e3e3", "....")
CANDIDATE: Final = ("#1f4e79", "")
DARK: Final = "#1f4e79"
LIGHT: Final = "#8a8a8a"
LONGEST_NAME: Final = 24
FEWEST_ROWS: Final = 6  # that a bar chart has room for: one bar alone is no thicker than many

_SETTINGS: Final[dict[str, Any]] = {
    "font.size": 7.5,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.4,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "rlprof",
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "text.usetex": False,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
}
#: Fonts that have what the usual one lacks, where they are installed.
_FALLBACKS: Final = ("Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "IPAGothic", "Noto Sans")
#: What XML cannot hold and `clean_text` lets pass.
_NO_CHARACTER: Final = re.compile("[\ufdd0-\ufdef\ufffe\uffff]|[\U0001fffe-\U0001ffff]")


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """matplotlib with these settings and no others, whatever the person's own say; and quiet about missing glyphs."""
    try:
        import matplotlib
        from matplotlib import font_manager
    except ImportError:
        raise BadOption("charts need matplotlib: pip install 'rlprof[charts]'") from None
    chatter = logging.getLogger("matplotlib")
    level = chatter.level
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chatter.setLevel(logging.ERROR)
        try:
            matplotlib.rcdefaults()
            known = {font.name for font in font_manager.fontManager.ttflist}
            families = ["DejaVu Sans", *(name for name in _FALLBACKS if name in known)]
            matplotlib.rcParams.update({**_SETTINGS, "font.family": families})
            yield
        finally:
            chatter.setLevel(level)


def label(text: str, limit: int = LONGEST_NAME) -> str:
    """A name from the recorded program, short and harmless."""
    return _NO_CHARACTER.sub("\ufffd", clean_text(text, limit))


def ending(path: str, limit: int = LONGEST_NAME) -> str:
    """As many names at the end of a path as fit: they tell operations apart."""
    names = [label(name, limit) for name in path.split(SEPARATOR)]
    shown = names.pop()
    while names and len(names[-1]) + len(SEPARATOR) + len(shown) <= limit:
        shown = f"{names.pop()}{SEPARATOR}{shown}"
    return f"…{SEPARATOR}{shown}" if names else shown


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Names beside the bars, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(max(len(names), FEWEST_ROWS) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def write_beside(axes: Any, text: str, at: tuple[float, float]) -> None:
    """A figure at the end of a bar."""
    axes.annotate(text, at, (3, -0.5), textcoords="offset points", va="center", fontsize=7)


def head(axes: Any, name: str, handles: Sequence[Any] = (), columns: int = 3) -> None:
    """The title, and below it what the tones and marks mean: outside of the axes, where nothing is covered."""
    axes.set_title(name, pad=17)  # the same without a legend: titles of neighbours are on one line
    if handles:
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderaxespad=0.1,
            borderpad=0.2, handlelength=1.5, handleheight=0.9, columnspacing=0.8, handletextpad=0.4,
        )  # fmt: skip


def patches(entries: Iterable[tuple[str, tuple[str, str]]]) -> list[Any]:
    """What a legend shows of fills."""
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=colour, hatch=hatch, edgecolor="black", linewidth=0.4, label=name)
        for name, (colour, hatch) in entries
    ]
