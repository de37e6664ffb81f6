"""The cores that the run's processes may use."""

from __future__ import annotations

import os
import re
from typing import Final

from rlprof.model.errors import BadOption
from rlprof.treat.treatment import Kind, Scene


def cores_of(argument: str) -> set[int]:
    if not re.fullmatch(r"[0-9]{1,4}(,[0-9]{1,4})*", argument, re.ASCII):
        raise BadOption("the treatment affinity takes numbers of cores: affinity=0,1")
    return {int(number) for number in argument.split(",")}


def check(argument: str) -> None:
    cores_of(argument)


def apply(argument: str, scene: Scene) -> None:
    wanted = cores_of(argument)
    if not hasattr(os, "sched_setaffinity"):
        scene.refuse("this system does not pin processes to cores")
        return
    absent = wanted - os.sched_getaffinity(0)
    if absent:
        scene.refuse(f"this process may not use core {', '.join(map(str, sorted(absent)))}")
        return
    os.sched_setaffinity(0, wanted)  # children inherit it
    scene.applied()


KIND: Final = Kind(
    "affinity",
    "affinity=0,1",
    "pin every process of the run to these cores",
    (),
    apply,
    lambda argument: f"import os\nos.sched_setaffinity(0, {{{', '.join(argument.split(','))}}})  # at the very start",
    check,
)
