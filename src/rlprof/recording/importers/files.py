"""Which importer a foreign file is for, told by what it holds."""

from __future__ import annotations

import gzip
import json
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from rlprof.model.errors import NotARecording
from rlprof.recording.importers.cprofile import read_cprofile
from rlprof.recording.importers.spans import Imported
from rlprof.recording.importers.timers_json import is_timers, read_timers
from rlprof.recording.importers.torch_trace import read_torch_trace

MOST_BYTES: Final = 4 << 30
_GZIP: Final = b"\x1f\x8b"
#: Digits before the point up to which a float is good to a tenth of a nanosecond, in microseconds.
_FLOATS_FIT: Final = 11
_JSON: Final = (b"{", b"[")


def read_foreign(file: Path) -> Imported:
    """A torch trace, ML-Agents timers or a cProfile file."""
    begin = _unpacked(file, 64).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not begin.startswith(_JSON):
        return read_cprofile(file)
    document = parse_json(file)
    if is_timers(document):
        return read_timers(document, file)
    if isinstance(document, list) or (isinstance(document, dict) and "traceEvents" in document):
        return read_torch_trace(document, file)
    raise NotARecording(f"{file} is neither a torch trace, ML-Agents timers nor a cProfile file")


def parse_json(file: Path) -> Any:
    """What a file of JSON holds, gzipped or not."""
    raw = _unpacked(file, MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise NotARecording(f"{file} holds more than {MOST_BYTES >> 30} GiB")
    try:
        # Names of kernels and paths come as the profiler found them: with bytes and signs that JSON does not allow.
        text = raw.decode("utf-8-sig", "replace")
        return json.loads(text, parse_float=_number, strict=False)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise NotARecording(f"{file} is no JSON: {error}") from None


def _number(text: str) -> float | Decimal:
    """Microseconds since 1970 with three decimals do not fit a float: two kernels in a row would overlap or part."""
    return Decimal(text) if text.find(".") > _FLOATS_FIT else float(text)


def _unpacked(file: Path, most: int) -> bytes:
    """The beginning of a file, gzipped or not."""
    try:
        with open(file, "rb") as stream:
            zipped = stream.read(2) == _GZIP
            stream.seek(0)
            source = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if zipped else stream
            return source.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise NotARecording(f"{file} is damaged or cut short") from None
    except OSError as error:
        raise NotARecording(f"cannot read {file}: {error.strerror or error}") from None
