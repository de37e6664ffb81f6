"""`rlprof watch --web`: the same look at a run on a page of this machine's own browser."""

from __future__ import annotations

import threading
from functools import partial

import click

from rlprof.cli.look import Look, Lookout
from rlprof.cli.loopback import Answer, Pages, serve
from rlprof.render.live_page import FILES, live_state, page_file


def serve_page(name: str, port: int, every: float) -> None:
    """Serve the page until somebody ends it; an ended run stays to be looked at."""
    lookout = Lookout(name, _state, every)
    lookout.text()  # what is no recording is said here, not on the page
    server = serve(port, _pages(lookout), token=True)
    server.start()
    click.echo(f"rlprof: look at {server.address} (Ctrl-C ends the watching)")
    try:
        _until_interrupted()
    finally:
        server.stop()


def _until_interrupted() -> None:
    while not threading.Event().wait(3600):
        pass


def _state(look: Look) -> str:
    return live_state(look.report, look.course, goes_on=look.goes_on)


def _pages(lookout: Lookout) -> Pages:
    files = {name: partial(_file, name) for name in FILES}
    return {"": files.pop("live.html"), **files, "state.json": lambda: Answer(lookout.text(), "application/json")}


def _file(name: str) -> Answer:
    return Answer(page_file(name), FILES[name])
