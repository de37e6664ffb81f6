"""The packed records that the compiled core hands over, as NumPy sees them. A test holds their sizes together."""

from __future__ import annotations

from typing import Final

import numpy as np

NEVER: Final = 2**63 - 1  # the shortest of no durations

ROW: Final = np.dtype(
    [
        ("path", "<u4"), ("exact", "<u4"), ("count", "<u8"), ("total", "<i8"), ("own", "<i8"), ("shortest", "<i8"),
        ("longest", "<i8"), ("charged", "<i8"), ("rss_peak", "<i8"), ("rss_rise", "<i8"), ("device_rise", "<i8"),
    ]
)  # fmt: skip
BIN: Final = np.dtype([("row", "<u4"), ("bucket", "<u4"), ("count", "<u4")])
OPEN_SPAN: Final = np.dtype([("path", "<u4"), ("start", "<i8")])
TURN: Final = np.dtype([("start", "<i8"), ("duration", "<i8"), ("env_steps", "<f8")])
EVENT: Final = np.dtype([("path", "<u4"), ("padding", "<u4"), ("start", "<i8"), ("duration", "<i8")])
