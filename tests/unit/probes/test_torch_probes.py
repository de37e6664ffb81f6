"""The probes of torch leave no trace when they are taken away, and say so when they do not understand a version."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rlprof.probes import marked_ranges, precision, torch_compile, torch_data, torch_sites
from rlprof.probes.patching import Patches
from rlprof.probes.torch_modules import SubmoduleProbe
from rlprof.record import noted

torch = pytest.importorskip("torch")


@pytest.fixture
def patches() -> Iterator[Patches]:
    made = Patches()
    yield made
    made.undo()


def state() -> dict[str, Any]:
    """Everything these probes replace, as it is found on classes and modules."""
    from torch.jit import _builtins
    from torch.utils.data import dataloader

    owners = {
        "Tensor": torch.Tensor,
        "torch": torch,
        "Module": torch.nn.Module,
        "record_function": torch.autograd.profiler.record_function,
        "nvtx": torch.cuda.nvtx,
        "loader": dataloader._BaseDataLoaderIter,
    }
    found = {f"{place}.{name}": value for place, owner in owners.items() for name, value in vars(owner).items()}
    return {**found, "builtins": dict(_builtins._get_builtin_table())}


def test_undoing_leaves_torch_as_it_was(patches: Patches) -> None:
    before = state()
    from torch.utils.data import dataloader

    torch_sites.install(torch, patches)
    torch_data.install(dataloader, patches)
    marked_ranges.install_record_function(torch.autograd.profiler, patches)
    marked_ranges.install_torch_nvtx(torch.cuda.nvtx, patches)
    SubmoduleProbe(1).install(torch, patches)
    during = state()
    changed = {name for name in during if during[name] is not before.get(name)} - {"builtins"}
    assert {"Tensor.item", "Tensor.__bool__", "torch.tensor", "Module._call_impl", "loader.__next__"} <= changed
    patches.undo()
    after = state()
    assert after.keys() == before.keys()
    assert [name for name in after if name != "builtins" and after[name] is not before[name]] == []
    assert after["builtins"] == before["builtins"]
    assert torch.ones(()).item() == float(torch.ones(())) == 1.0


def test_what_somebody_put_over_ours_stays(patches: Patches, monkeypatch: pytest.MonkeyPatch) -> None:
    torch_sites.install(torch, patches)
    monkeypatch.setattr(torch.Tensor, "item", theirs := lambda self: 7)
    patches.undo()
    assert vars(torch.Tensor)["item"] is theirs
    monkeypatch.undo()
    del torch.Tensor.item


def test_results_are_the_same_and_types_too(patches: Patches) -> None:
    def results() -> list[Any]:
        x = torch.arange(3.0)
        moved = [x.to(torch.float64).dtype, x.to("meta").device, x.to(x) is x, x.cpu() is x, x.to("cpu") is x]
        return [x[1].item(), x.tolist(), bool(x[1]), int(x[2]), *moved, torch.tensor([1, 2]).dtype, x.numpy().tolist()]

    bare = results()
    torch_sites.install(torch, patches)
    assert results() == bare


@pytest.mark.parametrize(
    "install",
    [torch_data.install, torch_compile.install_frames, torch_sites.install, marked_ranges.install_record_function],
)
def test_a_version_that_is_not_understood_is_refused(install: Any, patches: Patches) -> None:
    strange = ModuleType("strange")
    strange.__file__ = "/strange/__init__.py"
    for name in ("_BaseDataLoaderIter", "record_function"):
        setattr(strange, name, type(name, (), {}))
    strange.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
    strange.compiler = SimpleNamespace(is_compiling=lambda: False)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        install(strange, patches)


def test_a_module_that_is_replaced_does_not_lend_its_name(patches: Patches) -> None:
    probe = SubmoduleProbe(1)
    root = torch.nn.Sequential(torch.nn.Identity())
    names = probe._names_below(root)
    assert [name for _, name in names.values()] == ["0"]
    assert probe._names_below(root) is names
    del root
    assert probe._names == {}


# --- what is noted for rules ------------------------------------------------------------------------------------------


@pytest.fixture
def facts() -> Iterator[dict[str, Any]]:
    """What probes have noted by the next flush."""

    class Later(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            for look in tuple(noted.before_flush):
                look()
            return noted.noted().get(name)

    noted.forget()
    yield Later()
    noted.forget()


def test_precision_is_noted_of_what_is_trained_and_of_the_line_that_asked_for_it(
    patches: Patches, facts: dict[str, Any]
) -> None:
    precision.install(torch, patches)
    single, double = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1).double()
    optimizers = [torch.optim.SGD(network.parameters(), lr=0.1) for network in (single, double)]
    for optimizer in optimizers:  # all alive: they are told apart by where they are
        precision.trained.look(optimizer)
    precision.trained.look(object())
    assert facts["trained_parameters"] == {"torch.float32": 4, "torch.float64": 4}
    asked = facts["double_precision_asked"]
    assert (asked["file"], asked["what"]) == (__file__, "Module.double")
    torch.set_default_dtype(torch.float32)
    assert facts["double_precision_asked"]["what"] == "Module.double"
