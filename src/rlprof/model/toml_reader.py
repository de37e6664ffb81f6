"""The reader of TOML, which Python 3.10 does not bring."""

from __future__ import annotations

import importlib
from typing import Any


def toml_reader() -> Any | None:
    """The module tomllib, or tomli, which is the same; None where there is neither."""
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return None
