"""A skrl program that knows nothing of rlprof: acting, recording, updating and evaluating are told apart."""

from __future__ import annotations

from pathlib import Path

from support.installed import need
from support.programs import assert_ledgers_close, calls, phase_calls, run_bare, run_recorded, write_program

need("skrl")

PROGRAM = Path(__file__).parent / "programs" / "skrl_ppo.py"


def test_ppo_is_told_apart_into_its_phases(tmp_path: Path) -> None:
    script = write_program(tmp_path, PROGRAM.read_text(encoding="utf-8"))
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.code == 0, recorded.err
    assert recorded.out == bare.out
    report = recorded.report()
    assert_ledgers_close(report)
    trained, evaluated = 64, 64
    found = phase_calls(report)
    assert found["env.step"] == found["policy.forward"] == found["buffer.add"] == trained + evaluated
    assert found["advantage"] == calls(report, "train") == 4
    assert found["learn.backward"] == 16
    assert {"buffer.sample", "checkpoint", "log", "learn.loss", "learn.other"} <= set(found)
    assert calls(report, "evaluate") == 1
    throughput = report["throughput"]
    assert throughput["env_steps"] == 2 * trained  # of two environments, and not those of the evaluation
    assert (throughput["updates"], throughput["iterations"]) == (16, 3)
