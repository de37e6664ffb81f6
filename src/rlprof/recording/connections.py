"""Connections that are kept open for as long as somebody may ask for more, and that nobody is there to close."""

from __future__ import annotations

import sqlite3


class SelfClosing(sqlite3.Connection):
    """Closes itself when the last reader lets go of it; newer interpreters warn of one that is just dropped."""

    def __del__(self) -> None:
        self.close()
