"""What acting under inference mode hands on can be learned from, whatever it comes in."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from rlprof.treat.inference_mode import _usable
from support.installed import need

need("torch")

import torch  # noqa: E402


class Answer(NamedTuple):
    action: Any
    value: Any


def learn_from(tensor: torch.Tensor) -> None:
    """Inference tensors cannot be saved for backward: this raises with one."""
    weights = torch.ones(2, requires_grad=True)
    (weights * tensor).sum().backward()


def test_tensors_in_any_container_can_be_kept_for_learning() -> None:
    with torch.inference_mode():
        made = [torch.ones(2) for _ in range(6)]
        nested: defaultdict[str, Any] = defaultdict(list, {"a": made[3], "b": [made[4]]})
        answer = Answer(made[0], (made[1], {"x": made[2]}, nested, None, "text"))
        kept = torch.distributions.Independent(torch.distributions.Normal(made[5], made[5]), 1)
    usable = _usable(torch.Tensor, answer, 4)
    assert isinstance(usable, Answer)
    value, inner, deep, nothing, text = usable.value
    assert (nothing, text, type(deep)) == (None, "text", defaultdict)
    for tensor in (usable.action, value, inner["x"], deep["a"], deep["b"][0]):
        learn_from(tensor)
    same = _usable(torch.Tensor, kept, 4)
    assert same is kept
    learn_from(same.base_dist.loc)


def test_what_needs_no_copy_is_handed_on_as_it_is() -> None:
    plain = torch.ones(2)
    pair = (plain, 3)
    assert _usable(torch.Tensor, plain, 4) is plain
    assert _usable(torch.Tensor, pair, 4) is pair
