"""What takes values out of tensors, moves them or builds them from lists is counted by the line that does it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlprof.recording import open_recording
from support.programs import Json, assert_ledgers_close, calls, operations, run_bare, run_recorded, write_program

PROGRAM = """
    import numpy as np
    import torch

    torch.manual_seed(1)
    x = torch.ones(3)
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(5):
        x.sum().item()  # item
        float(x.sum())  # float
        int(x.sum())  # int
        bool(x.sum())  # bool
        x.tolist()  # tolist
        x.cpu()  # cpu
        x.numpy()  # numpy
        np.asarray(x)  # asarray
        x.to(torch.float64)  # to
        x.to("cpu"), x.to(torch.float32), x.to(torch.device("cpu")), x.to(x), x.to(device="cpu")  # nothing
        x.to("cpu", torch.float64)  # both
        x.to("cpu", copy=True)  # copy
        x.to("meta")  # away
        torch.tensor([1.0, 2.0])  # tensor
        torch.as_tensor((1.0, 2.0))  # as_tensor
        torch.as_tensor(np.ones(2)), torch.tensor(1.0)  # nothing
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        torch.distributions.Categorical(logits=x)
    print([p.tolist() for p in net.parameters()])
"""


def line(mark: str) -> int:
    (number,) = [
        number
        for number, text in enumerate(PROGRAM.splitlines(), start=1)
        if text.endswith(f"# {mark}") and mark != "nothing"
    ]
    return number


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("torch")
    script = write_program(tmp_path_factory.mktemp("sites"), PROGRAM)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert (recorded.out, recorded.code) == (bare.out, 0)
    return recorded.report()


@pytest.mark.parametrize(
    ("what", "mark"),
    [
        (".item()", "item"),
        ("float(tensor)", "float"),
        ("int(tensor)", "int"),
        ("bool(tensor)", "bool"),
        (".tolist()", "tolist"),
        (".cpu()", "cpu"),
        (".numpy()", "numpy"),
        ("np.asarray(tensor)", "asarray"),
        (".to()", "to"),
        (".to()", "both"),
        (".to()", "copy"),
        (".to()", "away"),
        ("torch.tensor(list)", "tensor"),
        ("torch.as_tensor(list)", "as_tensor"),
    ],
)
def test_every_call_is_counted_at_its_line(report: Json, what: str, mark: str) -> None:
    assert calls(report, f"{what} program.py:{line(mark)}") == 5


def test_what_changes_nothing_and_what_torch_does_itself_are_not_counted(report: Json) -> None:
    names = {operation["path"][-1] for operation in report["operations"]}
    places = {int(name.rpartition(":")[2]) for name in names if re.search(r"\) program\.py:\d+$", name)}
    silent = {number for number, text in enumerate(PROGRAM.splitlines(), start=1) if text.endswith("# nothing")}
    assert len(silent) == 2
    assert not places & silent
    assert not any("torch/" in name for name in names)


def test_a_call_has_the_phase_of_what_is_around_it_unless_a_device_has_to_be_asked(report: Json) -> None:
    assert_ledgers_close(report)
    (on_cpu,) = operations(report, f".item() program.py:{line('item')}")[:1]
    assert on_cpu["phase"] not in ("transfer.sync", "transfer.d2h", "transfer.h2d")
    assert {found["phase"] for found in operations(report, f".to() program.py:{line('away')}")} == {"transfer.h2d"}


HARMLESS = """
    import copy, gc, inspect, pickle, warnings
    import numpy as np
    import torch
    from torch import nn
    from torch.overrides import TorchFunctionMode

    warnings.simplefilter("always")
    x = torch.ones(3)
    base = torch._C.TensorBase
    print("a class finds the originals", all(
        getattr(torch.Tensor, name) is getattr(base, name) for name in ("item", "to", "cpu", "numpy", "__float__")
    ))
    p = nn.Parameter(torch.ones(2))
    print(p[0].item(), copy.deepcopy(p), pickle.loads(pickle.dumps(p)), p.to("cpu") is p)
    print(pickle.loads(pickle.dumps(torch.tensor))([1.0]), hasattr(x, "item"), callable(x.item))
    for odd in (
        lambda: x.item(), lambda: x.item(1), lambda: p.numpy(), lambda: x.to("nowhere"), lambda: float(x),
        lambda: x.numpy(force=True), lambda: x.cpu(memory_format=torch.preserve_format), lambda: torch.tensor(),
        lambda: torch.tensor(data=[1]), lambda: torch.tensor([[1], [1, 2]]),
    ):
        try:
            print(odd())
        except Exception as error:
            print(type(error).__name__, str(error).splitlines()[0])

    HANDLED = {torch.Tensor.item: lambda self: "mine", torch.Tensor.to: lambda self, *a: "moved"}

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func in HANDLED:
                return HANDLED[func](*args, **(kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs or {})

    mine = torch.ones(()).as_subclass(Mine)
    print("a subclass overrides", mine.item(), mine.to(torch.float64), float(mine), type(mine + 1).__name__)

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            print("a mode sees", func is torch.Tensor.item)
            return func(*args, **(kwargs or {}))

    with Watch():
        x[0].item()
    with torch.device("meta"):
        print("default device", torch.tensor([1.0]).device, torch.as_tensor([1.0]).device)

    @torch.jit.script
    def scripted(x):
        y = torch.tensor([1.0, 2.0])
        with torch.autograd.profiler.record_function("inside"):
            return x.item() + y.sum().item() + float(torch.as_tensor(3.0))

    print("scripts", scripted(torch.ones(())))

    def by_sum(x):
        return x * float(x.sum())

    print("traces", torch.jit.trace(by_sum, x)(x))
    torch.tensor([np.zeros(2), np.zeros(2)])  # torch warns of this line
    for _ in range(2):
        torch.tensor(x)  # and of this one

    def whole(x):
        y = x.to(torch.float64).cpu() + torch.tensor([1.0, 2.0, 3.0])
        return y * x.sum().item() + float(x.sum()) + x.cpu().sum()

    def broken(x):
        if x.sum() > 1:
            gc.collect()
            torch.ones(3, requires_grad=True).sum().backward()
            return x + x.sum().item() + torch.tensor([1.0])
        return x

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        print("compiles whole", torch.compile(whole, backend="eager", fullgraph=True)(x))
    torch._logging.set_logs(dynamo=40)
    print("compiles in parts", torch.compile(broken, backend="eager")(x), torch.compile(broken, backend="eager")(x))
    print("frames", torch._dynamo.utils.counters["frames"]["total"])
"""


def test_everything_else_people_do_with_tensors_works_as_before(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = write_program(tmp_path, HARMLESS)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    assert recorded.err.replace(f"rlprof: recorded into {recorded.target.name}\n", "") == bare.err
    assert "extremely slow" in bare.err  # warnings are compared with their places


UPLOADS = """
    import torch

    for _ in range(3):
        torch.ones(10).to("meta")  # a device without data: all that is there without one that has some
    torch.ones(10).to(torch.float64)
    torch.ones(10).to("cpu")
"""


def test_bytes_that_go_to_a_device_are_noted_by_the_line_that_sends_them(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = write_program(tmp_path, UPLOADS)
    (found,) = open_recording(run_recorded(script).target).main.facts["uploads"]
    assert (found["calls"], found["bytes"], found["line"]) == (3, 120, 5)
    assert Path(found["file"]).name == script.name
