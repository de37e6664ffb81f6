"""Traces of torch.profiler as versions and vendors write them: the figures of the device are those of a plain count."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rlprof.model.errors import NotARecording
from rlprof.recording.importers.files import read_foreign

Event = dict[str, Any]
DEVICE = ("kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset")


def busy_and_span(text: str) -> tuple[Fraction, Fraction]:
    """Another reading than ours: exact numbers, and a count of what is open between any two moments."""
    document = json.loads(text, parse_float=Fraction)
    events = document["traceEvents"] if isinstance(document, dict) else document
    changes: dict[Fraction, int] = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in DEVICE and "dur" in event:
            start = Fraction(event["ts"])
            changes[start] = changes.get(start, 0) + 1
            changes[start + event["dur"]] = changes.get(start + event["dur"], 0) - 1
    moments = sorted(changes)
    busy, going_on = Fraction(0), 0
    for moment, following in itertools.pairwise(moments):
        going_on += changes[moment]
        busy += following - moment if going_on > 0 else 0
    return busy, moments[-1] - moments[0]


def activity(ts: Any, dur: Any, cat: str = "kernel", name: str = "gemm", **more: Any) -> Event:
    return {"ph": "X", "ts": ts, "dur": dur, "pid": 0, "tid": 7, "cat": cat, "name": name, **more}


def host(ts: Any, dur: Any, name: str = "aten::mm", cat: str = "cpu_op") -> Event:
    return {"ph": "X", "ts": ts, "dur": dur, "pid": 100, "tid": 100, "cat": cat, "name": name}


def streams(source: random.Random) -> Iterator[Event]:
    """Four streams whose kernels overlap, with copies and fills among them."""
    kinds = ("kernel", "gpu_memcpy", "gpu_memset")
    for stream in range(4):
        at = source.uniform(0, 50)
        for _ in range(60):
            length = round(source.uniform(0.5, 40), 3)
            kind = source.choice(kinds)
            name = "Memcpy HtoD (Pageable -> Device)" if kind == "gpu_memcpy" else kind
            yield activity(round(at, 3), length, kind, name, tid=stream, args={"device": 0, "stream": stream})
            at += length + source.uniform(0, 30)


def since_the_epoch(source: random.Random) -> str:
    """Short kernels one behind the other, with moments that a float cannot hold: 1,700,000,000,000,000.123 us."""
    at, events = 1_700_000_000_000_000_123, []
    for _ in range(300):
        length = source.randrange(900, 2500)
        moment = f"{at // 1000}.{at % 1000:03d}"
        told = f'"pid": 0, "tid": 7, "cat": "kernel", "name": "k", "ts": {moment}'
        events.append(f'{{"ph": "X", {told}, "dur": {length / 1000}}}')
        at += length
    return f'{{"traceEvents": [{", ".join(events)}]}}'


def two_devices(source: random.Random) -> Iterator[Event]:
    for device in (0, 1):
        for turn in range(20):
            yield activity(turn * 100, 10 + 30 * device, pid=device, args={"device": device})


def old_names(source: random.Random) -> Iterator[Event]:
    yield activity(0, 100, "Kernel", pid="cuda:0")
    yield activity(90, 50, "Memcpy", "Memcpy DtoH", pid="cuda:0", args={"Bytes": 64})
    yield activity(300, 7, "Memset", "Memset (Device)", pid="cuda:0")
    yield host(0, 500, "aten::add", "Operator")
    yield host(10, 100, "cudaDeviceSynchronize", "Runtime")


def of_amd(source: random.Random) -> Iterator[Event]:
    yield activity(0, 12, name="Cijk_Ailk_Bljk", args={"device": 2})
    yield activity(30, 5, "gpu_memcpy", "Memcpy HtoD (Host -> Device)", args={"device": 2, "bytes": 256})
    yield activity(31, 2, "gpu_memcpy", "CopyDeviceToHost", args={"device": 2, "bytes": 8})
    yield host(0, 40, "hipModuleLaunchKernel", "cuda_runtime")
    yield host(41, 9, "hipStreamSynchronize", "hip_runtime")


def with_gaps_in_it(source: random.Random) -> Iterator[Event]:
    """Events of other kinds, without a length, of no length, nested, and what is no event at all."""
    yield activity(0, 100)
    yield activity(10, 20, name="inside")
    yield {"ph": "X", "ts": 500, "pid": 0, "tid": 7, "cat": "kernel", "name": "without an end"}
    yield {"ph": "i", "ts": 600, "pid": 0, "tid": 7, "cat": "kernel", "name": "a moment", "s": "t"}
    yield activity(150, 0, name="of no length")
    yield activity(900, 1, "gpu_user_annotation", "ProfilerStep#1")
    yield activity(950, 50, "cuda_sync", "Stream Synchronize")
    yield activity(200, 25, "gpu_memset", "Memset (Unknown)")
    yield {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}}


def as_text(make: Callable[[random.Random], Iterator[Event]]) -> Callable[[random.Random], str]:
    return lambda source: json.dumps({"schemaVersion": 1, "traceEvents": list(make(source))})


TRACES: dict[str, Callable[[random.Random], str]] = {
    "streams": as_text(streams),
    "since the epoch": since_the_epoch,
    "two devices": as_text(two_devices),
    "old names": as_text(old_names),
    "AMD": as_text(of_amd),
    "gaps": as_text(with_gaps_in_it),
    "a list": lambda source: json.dumps(list(streams(source))),
    "a distributed run": lambda source: json.dumps(
        {"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "traceEvents": list(streams(source))}
    ),
}


def device_of(file: Path) -> Any:
    return read_foreign(file).facts.get("device")


@pytest.mark.parametrize("make", TRACES.values(), ids=TRACES.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
def test_busy_and_idle_are_those_of_a_plain_count(
    make: Callable[[random.Random], str], packed: bool, tmp_path: Path
) -> None:
    text = make(random.Random(7))
    file = tmp_path / "trace"  # what it is, is told by what it holds
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    found = device_of(file)
    busy, span = busy_and_span(text)
    assert found["busy_seconds"] == pytest.approx(float(busy / 10**6), rel=1e-6)
    assert found["span_seconds"] == pytest.approx(float(span / 10**6), rel=1e-6)
    assert found["busy_seconds"] + found["idle_seconds"] == pytest.approx(found["span_seconds"])


def test_each_of_several_devices_is_counted_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(TRACES["two devices"](random.Random(7)), encoding="utf-8")
    found = device_of(file)
    assert {name: each["busy_seconds"] for name, each in found["devices"].items()} == pytest.approx(
        {"0": 20 * 10e-6, "1": 20 * 40e-6}
    )
    assert found["busy_seconds"] == pytest.approx(20 * 40e-6)  # at least one of them


def test_copies_and_waits_of_every_vendor_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(TRACES["AMD"](random.Random(7)), encoding="utf-8")
    found = device_of(file)
    assert {name: (copy["count"], copy["bytes"]) for name, copy in found["memcpy"].items()} == {
        "HtoD": (1, 256),
        "DtoH": (1, 8),
        "DtoD": (0, 0),
    }
    assert found["syncs"] == {"hipStreamSynchronize": {"count": 1, "seconds": pytest.approx(9e-6)}}
    assert found["launches"] == 1


@pytest.mark.parametrize(
    "name", [b"a\xff\xfekernel", b"line\nline", b"tab\there", b"\\ud800 half"], ids=["bytes", "line", "tab", "half"]
)
def test_names_that_json_does_not_allow_are_read_all_the_same(name: bytes, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(
        b'{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "pid": 0, "tid": 1, "cat": "kernel", "name": "'
        + name
        + b'"}]}'
    )
    assert device_of(file)["kernels"]["count"] == 1


def test_a_trace_without_a_device_has_no_figures_of_one(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": [host(0, 10), host(2, 3)]}), encoding="utf-8")
    assert "device" not in read_foreign(file).facts


@pytest.mark.parametrize("text", ['{"traceEvents": []}', "[]", '{"traceEvents": null}', '{"traceEvents": {}}'])
def test_a_trace_without_an_event_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NotARecording):
        read_foreign(file)
