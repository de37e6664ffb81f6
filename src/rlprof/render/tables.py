"""A recording as flat tables: CSV for everybody, Parquet for those who have pyarrow."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rlprof.analyse.over_time import PathRow, path_rows
from rlprof.model.clean import clean_text
from rlprof.model.errors import BadOption
from rlprof.model.recording import Recording

#: A spreadsheet takes a cell that begins so for a formula, and runs it.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
MOST_NAME: Final = 1000
_CHUNK: Final = 10_000


def csv_table(recording: Recording) -> Iterator[str]:
    """A header, then a line for each path and slice of time."""
    yield ",".join(PathRow._fields) + "\r\n"
    rows = path_rows(recording)
    while chunk := list(islice(rows, _CHUNK)):
        buffer = io.StringIO()
        csv.writer(buffer).writerows(map(_safe, chunk))
        yield buffer.getvalue()


def _safe(row: PathRow) -> tuple[Any, ...]:
    return tuple(_harmless(value) if isinstance(value, str) else value for value in row)


def _harmless(text: str) -> str:
    shown = clean_text(text, MOST_NAME)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def write_parquet(recording: Recording, file: Path) -> None:
    """The same rows, typed and compressed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadOption("Parquet needs pyarrow, which is not installed: pip install pyarrow") from None
    columns: dict[str, list[Any]] = {name: [] for name in PathRow._fields}
    for row in path_rows(recording):
        for name, value in zip(PathRow._fields, row, strict=True):
            columns[name].append(clean_text(value, MOST_NAME) if isinstance(value, str) else value)
    draft = file.with_name(f".{file.name}.tmp")
    try:
        pyarrow.parquet.write_table(pyarrow.table(columns), draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
