"""`rlprof run --prometheus PORT` answers a Prometheus on this machine while the program runs."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.programs import recorded_command, run_recorded, started, wait_for, write_program

TRAINS = """
    import pathlib, time
    from rlprof import count, iteration, profile

    end = time.monotonic() + 30
    while time.monotonic() < end and not pathlib.Path("enough").exists():
        iteration()
        with profile("step", phase="env.step"):
            time.sleep(0.02)
        count("env_steps", 5)
        with profile("learn", phase="learn.loss"):
            time.sleep(0.01)
    raise SystemExit(6)
"""


def get(port: int, path: str = "/metrics", method: str = "GET", **headers: str) -> tuple[int, str, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    return response.status, response.headers["Content-Type"], response.read().decode("utf-8")


def families(text: str) -> dict[str, Any]:
    parser = pytest.importorskip("prometheus_client.parser")
    found: Iterator[Any] = parser.text_string_to_metric_families(text)
    return {family.name: family for family in found}


def value(found: dict[str, Any], name: str, **labels: str) -> float:
    (sample,) = (s for s in found[name].samples if labels.items() <= s.labels.items())
    number: float = sample.value
    return number


def test_prometheus_reads_what_the_run_does(tmp_path: Path) -> None:
    command = recorded_command(tmp_path / "run.rlprof", [write_program(tmp_path, TRAINS)], ["--prometheus", "0"])
    with started(command, tmp_path) as process:
        assert process.stderr is not None
        told = re.search(r"http://127\.0\.0\.1:(\d+)/metrics", process.stderr.readline())
        assert told
        port = int(told[1])
        wait_for(lambda: "rlprof_env_steps_total" in get(port)[2], "the first env steps")
        _, kind, text = get(port)
        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        first = families(text)
        assert first["rlprof_phase_seconds"].type == "counter"
        assert value(first, "rlprof_run_status", status="running") == 1
        assert value(first, "rlprof_run_status", status="killed") == 0
        assert value(first, "rlprof_resident_memory_bytes") > 1e6
        steps = value(first, "rlprof_env_steps")

        def later() -> dict[str, Any] | None:
            again = families(get(port)[2])
            return again if value(again, "rlprof_env_steps") > steps + 50 else None

        second = wait_for(later, "more env steps")
        assert value(second, "rlprof_env_steps_per_second") > 10
        spent = {s.labels["phase"]: s.value for s in second["rlprof_phase_seconds"].samples}
        assert {"env.step", "learn.loss", "unattributed", "overhead"} <= set(spent)
        assert sum(spent.values()) == pytest.approx(value(second, "rlprof_wall_seconds"), rel=0.01)
        for sample in first["rlprof_phase_seconds"].samples:
            assert spent[sample.labels["phase"]] >= sample.value
        assert get(port, Host="evil.example")[0] == 421
        assert get(port, Origin="https://evil.example")[0] == 403
        assert get(port, method="POST")[0] == 405
        assert get(port, "/")[0] == get(port, "/metrics/../x")[0] == 404
        (tmp_path / "enough").touch()
        process.communicate(timeout=60)
    assert process.returncode == 6
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_port_that_is_taken_is_said_before_the_program_starts(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('ran')")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_recorded(script, options=["--prometheus", str(taken.getsockname()[1])])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert not list(tmp_path.glob("*.rlprof*"))
