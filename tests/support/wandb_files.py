"""What wandb wrote to disk in offline mode, read with wandb's own message types."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = 32768
HEADER = 7  # of the file, and of each piece of a record in it: checksum, length, kind
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def history_of(file: Path) -> list[dict[str, Any]]:
    """The rows that were logged, in order."""
    from wandb.proto import wandb_internal_pb2 as messages

    rows = []
    for data in records(file.read_bytes()):
        record = messages.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            rows.append({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


def records(content: bytes) -> Iterator[bytes]:
    """The records of a log in blocks, as LevelDB writes it."""
    at, whole = HEADER, b""
    while at + HEADER <= len(content):
        if BLOCK - at % BLOCK < HEADER:
            at += BLOCK - at % BLOCK
            continue
        length, kind = struct.unpack("<HB", content[at + 4 : at + HEADER])
        piece = content[at + HEADER : at + HEADER + length]
        at += HEADER + length
        whole = piece if kind in (WHOLE, FIRST) else whole + piece
        if kind in (WHOLE, LAST):
            yield whole
