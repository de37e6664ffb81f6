"""tianshou programs that know nothing of rlprof: collecting, returns, updates and tests are told apart."""

from __future__ import annotations

from pathlib import Path

from support.installed import need
from support.programs import (
    Json,
    assert_ledgers_close,
    calls,
    operations,
    phase_calls,
    processes,
    run_bare,
    run_recorded,
    write_program,
)

need("tianshou")

PROGRAM = Path(__file__).parent / "programs" / "tianshou_training.py"


def record(folder: Path, kind: str) -> Json:
    script = write_program(folder, PROGRAM.read_text(encoding="utf-8"))
    bare, recorded = run_bare(script, kind), run_recorded(script, kind)
    assert bare.code == 0, bare.err
    assert recorded.code == 0, recorded.err
    assert recorded.out.splitlines()[-1] == bare.out.splitlines()[-1]
    report = recorded.report()
    assert_ledgers_close(report)
    return report


def test_ppo_in_worker_processes(tmp_path: Path) -> None:
    report = record(tmp_path, "subproc")
    found, throughput = phase_calls(report), report["throughput"]
    assert throughput["env_steps"] == 128  # the steps of the tests are not training's
    assert (throughput["updates"], throughput["iterations"]) == (16, 3)
    assert found["advantage"] == found["buffer.sample"] == calls(report, "train") == 4
    assert found["learn.backward"] == found["learn.loss"] == 16
    steps = [operation for operation in operations(report, "env.step") if operation["path"] == ["collect", "env.step"]]
    assert steps[0]["calls"] == 64
    assert ["collect", "env.step", "env.wait"] in [operation["path"] for operation in operations(report, "env.wait")]
    assert calls(report, "evaluate") == 3
    workers = [process for process in processes(report) if process["role"] != "main"]
    assert [phase_calls(worker)["env.step"] for worker in workers] == [64, 64]


def test_dqn_with_its_buffer_and_target_network(tmp_path: Path) -> None:
    report = record(tmp_path, "dqn")
    found, throughput = phase_calls(report), report["throughput"]
    assert (throughput["env_steps"], throughput["updates"], throughput["iterations"]) == (128, 32, 15)
    assert found["buffer.sample"] == found["advantage"] == found["learn.loss"] == 32
    assert calls(report, "target") == 4
