"""The core's packed records as NumPy sees them, for tests that look at many at once."""

from __future__ import annotations

import numpy as np

from rlprof.record import layout
from rlprof.record.layout import Layout


def _dtype(packed: Layout) -> np.dtype[np.void]:
    return np.dtype(
        {
            "names": list(packed.fields),
            "formats": [f"<{'f' if code == 'd' else 'i' if code.islower() else 'u'}{_width(code)}"
                        for code, _ in packed.fields.values()],
            "offsets": [offset for _, offset in packed.fields.values()],
            "itemsize": packed.size,
        }
    )  # fmt: skip


def _width(code: str) -> int:
    return 4 if code == "I" else 8


ROW, BIN, OPEN_SPAN, TURN, EVENT = map(_dtype, (layout.ROW, layout.BIN, layout.OPEN_SPAN, layout.TURN, layout.EVENT))
