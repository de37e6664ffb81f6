"""PettingZoo environments: turns and rounds are steps, in whatever wrappers and conversions."""

from __future__ import annotations

from pathlib import Path

from support.installed import need
from support.programs import assert_ledgers_close, calls, phases, run_bare, run_recorded, write_program

need("pettingzoo")

PROGRAM = Path(__file__).parent / "programs" / "pettingzoo_turns.py"


def test_rounds_and_turns_are_counted_once(tmp_path: Path) -> None:
    script = write_program(tmp_path, PROGRAM.read_text(encoding="utf-8"))
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert (recorded.out, recorded.code) == (bare.out, 0)
    report = recorded.report()
    assert_ledgers_close(report)
    in_rounds, in_turns, dead = (4 + 2) * 5, 3 * 5 * 2, 3 * 2
    assert calls(report, "env.step") == in_rounds + in_turns + dead
    assert report["throughput"]["env_steps"] == in_rounds + in_turns  # those who are dead do nothing
    assert report["throughput"]["episodes"] == calls(report, "env.reset") == 4 + 3 + 2
    assert calls(report, "env.last") == in_turns + dead
    assert set(phases(report)) == {"env.step", "env.reset"}
