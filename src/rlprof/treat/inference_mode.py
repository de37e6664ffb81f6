"""Acting under `torch.inference_mode`, which keeps even less account than `no_grad`."""

from __future__ import annotations

from typing import Any, Final

from rlprof.treat.acting import Function, treat_acting
from rlprof.treat.arguments import always, nothing
from rlprof.treat.treatment import Kind, Scene

_DEEPEST: Final = 4

PERMANENT: Final = """\
with torch.inference_mode():  # instead of torch.no_grad(), around acting
    action, log_prob, _, value = agent.get_action_and_value(obs)
# what is kept for learning must be a copy made outside of it: action = action.clone()"""


def apply(argument: str, scene: Scene) -> None:
    scene.when_loaded("torch", lambda torch: _treat(torch, scene))


def _treat(torch: Any, scene: Scene) -> None:
    scene.waits("no module was called without gradients outside of learning")
    refused = False

    def act(original: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nonlocal refused
        if refused or any(_is_tensordict(value) for value in (*args, *kwargs.values())):
            if not refused:
                refused = True
                scene.refuse("the acting module writes into a TensorDict, whose entries are kept for learning")
            return original(*args, **kwargs)
        with torch.inference_mode():
            result = original(*args, **kwargs)
        try:
            usable = _usable(torch.Tensor, result, _DEEPEST)
        except Exception as error:
            refused = True
            scene.refuse(f"what {type(args[0]).__name__} returns cannot be copied: {error!r}")
            return result
        scene.applied()
        return usable

    treat_acting(torch, scene.patches, act)


def _is_tensordict(value: Any) -> bool:
    return any(cls.__name__ == "TensorDictBase" for cls in type(value).__mro__)


def _usable(tensor: type, value: Any, deep: int) -> Any:
    """The same outside of inference mode: what was made inside can be kept for learning only as a copy."""
    if isinstance(value, tensor):
        made: Any = value
        return made.clone() if made.is_inference() else made
    if not deep or value is None or isinstance(value, (str, type)):
        return value
    if isinstance(value, tuple):
        parts = [_usable(tensor, part, deep - 1) for part in value]
        if all(part is before for part, before in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, (list, dict)):
        held: Any = value
        for key in range(len(value)) if isinstance(value, list) else list(value):
            held[key] = _usable(tensor, held[key], deep - 1)
    elif isinstance(getattr(value, "__dict__", None), dict):  # a distribution, say, which goes on as the same object
        for name, part in list(vars(value).items()):
            if isinstance(part, tensor) or _is_distribution(part):
                vars(value)[name] = _usable(tensor, part, deep - 1)
    return value


def _is_distribution(value: Any) -> bool:
    return any(cls.__name__ == "Distribution" for cls in type(value).__mro__)


KIND: Final = Kind(
    "inference-mode",
    "inference-mode",
    "act under torch.inference_mode instead of no_grad",
    ("torch",),
    apply,
    always(PERMANENT),
    nothing("inference-mode"),
)
