"""Operations that copy whole TensorDicts have a name of their own, and give what they gave before."""

from __future__ import annotations

from pathlib import Path

from support.installed import need
from support.programs import assert_ledgers_close, calls, run_bare, run_recorded, write_program

need("tensordict")

PROGRAM = """
    import torch
    from tensordict import TensorDict, TensorDictBase, lazy_stack
    from tensordict._torch_func import TD_HANDLED_FUNCTIONS

    def entries(count):
        return [TensorDict({"a": torch.full((3,), i), "in": {"b": torch.ones(3, 2)}}, [3]) for i in range(count)]

    batch = torch.stack(entries(4))
    print(type(batch).__name__, batch.batch_size, float(batch["in", "b"].sum()))
    print(torch.cat(entries(2)).batch_size, TensorDict.stack(entries(2)).batch_size)
    moved = batch.to(torch.float64)
    print(moved["a"].dtype, moved["in", "b"].dtype, moved.batch_size)
    batch.update_(TensorDict({"a": batch["a"] + 1}, [4, 3]))
    print(int(batch["a"].sum()), lazy_stack(entries(2)).contiguous()["a"].sum())

    def add(one, other):
        return torch.cat([torch.stack([one, other])])["a"].sum()

    one, other = entries(2)
    print(add(one, other), torch.compile(add, backend="eager", fullgraph=True)(one, other))
    print(isinstance(batch, TensorDictBase), TD_HANDLED_FUNCTIONS[torch.stack].__name__)
"""


def test_operations_that_copy_a_tensordict_are_spans_and_compile_as_before(tmp_path: Path) -> None:
    script = write_program(tmp_path, PROGRAM)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert (recorded.code, recorded.out) == (0, bare.out), recorded.err
    report = recorded.report()
    assert_ledgers_close(report)
    found = {name: calls(report, f"TensorDict.{name}") for name in ("stack", "cat", "to", "update_", "contiguous")}
    # The compiled call is none of ours.
    assert found == {"stack": 3, "cat": 2, "to": 1, "update_": 1, "contiguous": 1}
