"""Where trials run: on this machine, or on the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from rlprof.experiments.cluster import Cluster

Command = TypeVar("Command", bound=Callable[..., Any])


def on_option(command: Command) -> Command:
    """`--on here|ray`."""
    option = click.option(
        "--on", type=click.Choice(["here", "ray"]), default="here", help="Run trials on a Ray cluster [here]."
    )
    return option(command)


def cluster_of(on: str) -> Cluster | None:
    """The cluster that was asked for; None for this machine."""
    if on == "here":
        return None
    from rlprof.experiments.ray_cluster import RayCluster

    return RayCluster()
