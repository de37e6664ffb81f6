"""How many threads torch and the libraries beneath NumPy compute with."""

from __future__ import annotations

import functools
import os
from typing import Any, Final

from rlprof.treat.arguments import whole_number
from rlprof.treat.treatment import Kind, Scene

VARIABLES: Final = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def apply(argument: str, scene: Scene) -> None:
    number = int(argument)
    for name in VARIABLES:  # read by each library when it is loaded, which is later; children inherit them
        os.environ[name] = argument
    for library in ("numpy", "torch"):
        scene.when_loaded(library, lambda _: scene.applied())

    def treat(torch: Any) -> None:
        original = torch.set_num_threads

        @functools.wraps(original)
        def set_num_threads(_: int) -> None:
            original(number)

        original(number)
        scene.patches.attribute(torch, "set_num_threads", set_num_threads)  # the program may have a number of its own

    scene.when_loaded("torch", treat)


def permanent(argument: str) -> str:
    return (
        "import os\n"
        f'os.environ["OMP_NUM_THREADS"] = "{argument}"  # above the first import of numpy or torch\n'
        "import torch\n"
        f"torch.set_num_threads({argument})"
    )


KIND: Final = Kind(
    "threads",
    "threads=N",
    "compute with N threads in torch and NumPy; sums over many numbers may round differently",
    ("numpy", "torch"),
    apply,
    permanent,
    whole_number("threads", 1024),
)
