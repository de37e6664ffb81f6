"""What a demo writes beside its report: charts, JSON, text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from rlprof.cli.charts import HELP as CHARTS_HELP
from rlprof.cli.charts import check_place, write_report_charts
from rlprof.cli.report import OUTPUT, write_output
from rlprof.recording import open_recording


def output_options() -> list[click.Parameter]:
    """The same as those of `rlprof report`."""
    return [
        click.Option(["--charts"], metavar="FILE|DIR/", help=CHARTS_HELP),
        click.Option(["--json", "json_file"], metavar="FILE", type=OUTPUT, help="Write the report as JSON, in detail."),
        click.Option(["--text", "text_file"], metavar="FILE", type=OUTPUT, help="Write the report as text, in full."),
    ]


@dataclass(frozen=True)
class Outputs:
    charts: str | None = None
    json_file: str | None = None
    text_file: str | None = None

    def check(self) -> None:
        """Before minutes of training: whether they can be written at all."""
        if self.charts is not None:
            check_place(self.charts)

    def write(self, recorded: Path) -> None:
        if self.charts is None and self.json_file is None and self.text_file is None:
            return
        from rlprof.advise.report import complete_report
        from rlprof.render.json import render_json
        from rlprof.render.text import render_text

        recording = open_recording(recorded)
        report = complete_report(recording)
        if self.charts is not None:
            write_report_charts(self.charts, recording, report)
        if self.json_file is not None:
            write_output(self.json_file, render_json(report))
        if self.text_file is not None:
            write_output(self.text_file, render_text(report))
        written = [name for name in (self.charts, self.json_file, self.text_file) if name not in (None, "-")]
        if written:
            click.echo(f"\nwrote {', '.join(map(str, written))}", err=True)
