"""DataLoader waits, compiles, ranges marked for other profilers, and submodules are spans of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import (
    Json,
    assert_ledgers_close,
    calls,
    operation,
    operations,
    run_bare,
    run_recorded,
    write_program,
)

PROGRAM = """
    import time
    import torch
    from torch import nn
    from torch.profiler import record_function
    from torch.cuda import nvtx as torch_nvtx
    from torch.utils.data import DataLoader, TensorDataset

    class Fake:  # a build for CUDA has a real one
        rangePushA = staticmethod(lambda message: 0)
        rangePop = staticmethod(lambda: 0)

    torch_nvtx._nvtx = Fake
    torch.manual_seed(1)

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
            self.critic = nn.Linear(2, 1)

        def forward(self, x):
            return self.actor(x).sum() + self.critic(x).sum()

    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters())

    @record_function("decorated")
    def decorated(depth):
        if depth:
            decorated(depth - 1)

    data = TensorDataset(torch.arange(8.0).reshape(4, 2))
    for (batch,) in DataLoader(data, batch_size=2):
        with record_function("update"):
            with record_function("forward and loss"):
                loss = agent(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch_nvtx.range_push("pushed")
        with torch_nvtx.range("inside {}", 1):
            decorated(2)
        torch_nvtx.range_pop()
    with torch.no_grad():
        agent(torch.ones(1, 2))

    @torch.compile(backend="eager", dynamic=False)
    def compiled(x):
        return x + 1

    for size in (1, 2, 2, 3):
        compiled(torch.ones(size))
    torch.compile(nn.Sequential(nn.Linear(2, 1)), backend="eager")(torch.ones(1, 2))
    torch.compile(Agent(), backend="eager")(torch.ones(1, 2))
    try:
        with record_function("failing"):
            raise KeyError("seen")
    except KeyError as error:
        print(error)
    print([float(p.sum()) for p in agent.parameters()])
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Json:
    pytest.importorskip("torch")
    script = write_program(tmp_path_factory.mktemp("ranges"), PROGRAM)
    bare, recorded = run_bare(script), run_recorded(script, options=["--module-depth", "2"])
    assert bare.code == 0, bare.err
    assert (recorded.out, recorded.code) == (bare.out, 0)
    assert recorded.err.replace(f"rlprof: recorded into {recorded.target.name}\n", "") == bare.err
    found = recorded.report()
    assert_ledgers_close(found)
    return found


def test_waiting_for_a_batch_is_drawing_a_sample(report: Json) -> None:
    found = operation(report, "dataloader.next")
    assert (found["calls"], found["phase"]) == (3, "buffer.sample")  # the third finds the end


def test_record_function_ranges_are_spans_with_their_names(report: Json) -> None:
    assert operation(report, "update")["calls"] == 2
    assert operation(report, "forward and loss")["path"][-2:] == ["update", "forward and loss"]
    assert calls(report, "decorated") == 2 * 3
    assert operation(report, "failing")["calls"] == 1


def test_what_torch_marks_in_its_own_code_is_not_shown(report: Json) -> None:
    names = {found["path"][-1] for found in report["operations"]}
    assert not [name for name in names if "Optimizer" in name or "enumerate" in name]


def test_nvtx_ranges_are_spans_that_nest(report: Json) -> None:
    assert operation(report, "inside 1")["path"][-2:] == ["pushed", "inside 1"]
    assert operation(report, "pushed")["calls"] == operation(report, "inside 1")["calls"] == 2


def test_every_compile_of_a_function_is_a_span_with_its_name_and_place(report: Json) -> None:
    line = next(n for n, text in enumerate(PROGRAM.splitlines(), start=1) if "@torch.compile" in text)
    assert calls(report, f"torch.compile: compiled program.py:{line}") == 3
    assert calls(report, "torch.compile: Sequential") == 1
    forward = next(n for n, text in enumerate(PROGRAM.splitlines(), start=1) if "def forward" in text)
    assert calls(report, f"torch.compile: forward program.py:{forward}") == 1


def test_forwards_are_split_by_submodule_down_to_the_depth(report: Json) -> None:
    paths = {tuple(found["path"]): found["calls"] for found in report["operations"]}
    acting = {path[1:]: count for path, count in paths.items() if path[0] == "forward"}
    assert acting == {
        (): 1,
        ("Agent",): 1,
        ("Agent", "actor"): 1,
        ("Agent", "critic"): 1,
        **{("Agent", "actor", f"actor.{n}"): 1 for n in range(3)},
    }
    assert calls(report, "actor.0") == calls(report, "critic") == 3
    assert {found["phase"] for found in operations(report, "actor.0")} <= {None, "learn.loss", "policy.forward"}


NVTX = """
    import pickle
    import nvtx

    @nvtx.annotate()
    def plain():
        return 1

    @nvtx.annotate("named", color="red")
    def other():
        "Says something."
        return 2

    for _ in range(3):
        with nvtx.annotate("block"):
            print(plain(), other(), other.__doc__)
        nvtx.push_range("outer", domain="mine")
        nvtx.push_range("inner")
        nvtx.pop_range(domain="mine")
        nvtx.pop_range()
    print(type(pickle.loads(pickle.dumps(nvtx.annotate("again")))).__name__)
"""


def test_ranges_of_the_nvtx_package_are_spans(tmp_path: Path) -> None:
    pytest.importorskip("nvtx")
    script = write_program(tmp_path, NVTX)
    bare, recorded = run_bare(script), run_recorded(script)
    assert (recorded.out, recorded.code) == (bare.out, 0)
    found = recorded.report()
    assert {name: calls(found, name) for name in ("plain", "named", "block", "outer", "inner")} == dict.fromkeys(
        ("plain", "named", "block", "outer", "inner"), 3
    )
    assert operation(found, "plain")["path"] == ["block", "plain"]


TIMEIT = """
    from torchrl import timeit

    @timeit("decorated")
    def work():
        return 1

    for _ in range(3):
        with timeit("block"):
            work()
    print(sorted(timeit._REG))
"""


@pytest.mark.slow
def test_torchrl_timers_are_spans(tmp_path: Path) -> None:
    pytest.importorskip("torchrl")
    recorded = run_recorded(write_program(tmp_path, TIMEIT))
    assert recorded.out == "['block', 'decorated']\n"
    assert operation(recorded.report(), "decorated")["path"] == ["block", "decorated"]
    assert calls(recorded.report(), "block") == 3
