"""Which companions were asked for. They are made before the program starts, so that what is missing is said then."""

from __future__ import annotations

from pathlib import Path

import click

from rlprof.cli.companions import Companion


def choose_companions(*, live: bool, tensorboard: Path | None, wandb: bool, prometheus: int | None) -> list[Companion]:
    """Those that were asked for and can be had; what one of them needs and is not there is an error."""
    chosen: list[Companion] = []
    if live:
        from rlprof.cli.live_screen import WHY_NOT, live_screen

        screen = live_screen()
        if screen is None:
            click.echo(f"rlprof: {WHY_NOT}", err=True)
        else:
            chosen.append(screen)
    if tensorboard is not None:
        from rlprof.cli.loggers import TensorBoardLogger

        chosen.append(TensorBoardLogger(tensorboard))
    if wandb:
        from rlprof.cli.loggers import WandbLogger

        chosen.append(WandbLogger())
    if prometheus is not None:
        from rlprof.cli.metrics import Metrics

        chosen.append(Metrics(prometheus))
    return chosen
