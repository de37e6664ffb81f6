"""`rlprof run --prometheus PORT`: figures of the run, for a Prometheus on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from rlprof.cli.companions import Companion
from rlprof.cli.look import Look, Lookout
from rlprof.cli.loopback import Answer, serve
from rlprof.render.prometheus import CONTENT_TYPE, PrometheusText


class Metrics(Companion):
    """Answers while the program runs. It looks at the recording when it is asked, and not otherwise."""

    name = "metrics"
    looks = False

    def __init__(self, port: int) -> None:
        self._text = PrometheusText()
        self._lookout: Lookout | None = None
        # The port is taken now, so that a wrong one is said; who asks before the program runs is kept waiting.
        self._server = serve(port, {"metrics": self._answer}, token=False)
        click.echo(f"rlprof: metrics at {self._server.address}metrics", err=True)

    def begin(self, parts: Path) -> None:
        self._lookout = Lookout(parts, self._metrics)
        self._server.start()

    def close(self) -> None:
        self._server.stop()

    def _metrics(self, look: Look) -> str:
        return self._text.of(look.report, look.course)

    def _answer(self) -> Answer:
        assert self._lookout is not None
        return Answer(self._lookout.text(), CONTENT_TYPE)
