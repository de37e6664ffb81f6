"""torch.distributions without checks of their arguments."""

from __future__ import annotations

import functools
from typing import Any, Final

from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

PERMANENT: Final = "torch.distributions.Distribution.set_default_validate_args(False)  # NaN is no longer caught there"


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch.distributions", lambda module: _treat(module.Distribution, scene))


def _treat(distribution: Any, scene: Scene) -> None:
    scene.waits("no distribution was built that would have been checked")
    distribution.set_default_validate_args(False)
    original = distribution.__init__

    @functools.wraps(original)
    def first(self: Any, *args: Any, **kwargs: Any) -> None:
        """Until one comes that the treatment changes; from then on nothing of ours is in the way."""
        original(self, *args, **kwargs)
        if kwargs.get("validate_args", args[2] if len(args) > 2 else None) is None:
            scene.patches.put_back(distribution, "__init__")
            scene.applied()

    scene.patches.attribute(distribution, "__init__", first)


KIND: Final = Kind(
    "no-validate",
    "no-validate",
    "no checks of arguments in torch.distributions",
    ("torch",),
    apply,
    always(PERMANENT),
    nothing("no-validate"),
)
