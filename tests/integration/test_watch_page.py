"""The live page is for this machine and for who has its address: nobody else gets an answer, and nobody can write."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.programs import RLPROF, run_recorded, write_program
from support.watched import page_of

PROGRAM = """
    import time
    from rlprof import count, profile

    for _ in range(60):
        with profile("</script><b>step", phase="env.step"):
            time.sleep(0.02)
        count("env_steps", 4)
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_recorded(write_program(tmp_path_factory.mktemp("page"), PROGRAM)).target


@pytest.fixture(scope="module")
def address(recording: Path) -> Iterator[str]:
    with page_of(recording) as found:
        yield found


class Reply:
    def __init__(self, address: str, path: str | None = None, method: str = "GET", **headers: str) -> None:
        parts = urlsplit(address)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        connection.putrequest(method, parts.path if path is None else path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        self.status, self.headers, self.body = response.status, dict(response.headers), response.read()
        connection.close()


def token_of(address: str) -> str:
    return urlsplit(address).path


def test_the_page_and_its_state_are_there(address: str) -> None:
    page = Reply(address)
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    state = json.loads(Reply(address + "state.json").body)
    assert (state["status"], state["goesOn"]) == ("completed", False)
    assert {"name": "env steps", "value": "240"} in state["figures"]
    assert len(state["charts"]["at"]) == len(state["charts"]["speed"]["values"]) == len(state["times"]) > 1
    steps = next(phase for phase in state["phases"] if phase["name"] == "env.step")
    assert float(steps["whole"].rstrip("%")) > 10
    for moment in zip(*(phase["shares"] for phase in state["phases"]), strict=True):
        assert 0 < sum(moment) < 1.01


def test_nothing_is_kept_framed_or_asked_for_elsewhere(address: str) -> None:
    for name in ("", "live.js", "live.css", "state.json"):
        reply = Reply(address + name)
        assert reply.status == 200
        assert reply.headers["Cache-Control"] == "no-store"
        policy = reply.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert b"://" not in reply.body.replace(b"http://www.w3.org/2000/svg", b"")


def test_a_head_request_gets_the_head_alone(address: str) -> None:
    reply = Reply(address, method="HEAD")
    assert (reply.status, reply.body) == (200, b"")
    assert int(reply.headers["Content-Length"]) > 0


@pytest.mark.parametrize("path", ["/", "/state.json", "//state.json", "/wrong/state.json", "/%2e%2e/state.json", "/?"])
def test_without_the_token_there_is_no_answer(address: str, path: str) -> None:
    assert Reply(address, path).status == 403


def test_a_token_that_is_nearly_right_is_wrong(address: str) -> None:
    whole = token_of(address).strip("/")
    for token in (whole[:-1], whole + "A", whole.swapcase(), ""):
        assert Reply(address, f"/{token}/state.json").status == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "[::1]", ""])
def test_another_host_name_is_refused(address: str, host: str) -> None:
    """A site that lets its own name point to 127.0.0.1 reads nothing."""
    assert Reply(address, Host=host).status == 421


def test_localhost_is_the_same_machine(address: str) -> None:
    port = urlsplit(address).port
    assert Reply(address, Host=f"localhost:{port}").status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_another_sites_script_is_refused(address: str, origin: str) -> None:
    assert Reply(address + "state.json", Origin=origin).status == 403


def test_the_pages_own_script_is_answered(address: str) -> None:
    parts = urlsplit(address)
    assert Reply(address + "state.json", Origin=f"http://{parts.netloc}").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_it_can_only_be_read(address: str, method: str) -> None:
    reply = Reply(address, method=method)
    assert (reply.status, reply.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "path",
    [
        "../live.js",
        "../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "web/live.js",
        "live.html",
        "%00",
        "live.js/",
        "/live.js",
    ],
)
def test_there_are_no_paths_to_other_files(address: str, path: str) -> None:
    assert Reply(address, token_of(address) + path).status == 404


def test_nobody_outside_this_machine_can_connect(address: str) -> None:
    port = urlsplit(address).port
    bound = subprocess.run(
        ["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True, check=False
    ).stdout
    local = {row.split()[1] for row in bound.splitlines() if row.split()[3] == "0A"}
    assert {place for place in local if place.endswith(f":{port:04X}")} == {f"0100007F:{port:04X}"}


def test_one_who_says_nonsense_or_nothing_hurts_nobody(address: str) -> None:
    parts = urlsplit(address)
    silent = socket.create_connection((parts.hostname, parts.port))
    with socket.create_connection((parts.hostname, parts.port)) as rude:
        rude.sendall(b"\x00\xff\xfe\r\n\r\n")
        rude.recv(4096)
    assert Reply(address).status == 200
    silent.close()


def test_a_port_that_is_taken_and_a_wrong_use_are_one_line_each(recording: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, said in (
            (["--web", "--port", port], "cannot serve"),
            (["--web", "--once"], "--once"),
            (["--port", "1"], "--web"),
        ):
            done = subprocess.run(
                [*RLPROF, "watch", str(recording), *options], capture_output=True, text=True, check=False, timeout=60
            )
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
            assert said in done.stderr


def test_serving_writes_no_file(recording: Path, address: str) -> None:
    before = sorted(os.listdir(recording.parent))
    Reply(address + "state.json")
    assert sorted(os.listdir(recording.parent)) == before
