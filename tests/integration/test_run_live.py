"""`rlprof run --live` shows the run below the program's output and takes nothing from the program."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from support.programs import read_report, run_recorded, write_program
from support.screens import Screen

WRITES = """
    import pathlib, sys, time
    from rlprof import count, iteration, profile

    turn = 0
    while not pathlib.Path("enough").exists():
        turn += 1
        iteration()
        with profile("\\x1b]0;\\x1b[2Jstep", phase="env.step"):
            time.sleep(0.025)
        count("env_steps", 10)
        with profile("learn", phase="learn.loss"):
            time.sleep(0.005)
        print(f"line {turn}", file=sys.stderr if turn % 2 else sys.stdout, flush=True)
        print(f"\\rprogress {turn}", end="" if turn % 40 else "\\n", flush=True)
        print("\\r" + 20 * " " + "\\r", end="", flush=True)
    print("\\ndone", turn, sys.stdout.isatty(), sys.stderr.isatty())
    raise SystemExit(7)
"""


def live(folder: Path, source: str, *options: str, rows: int = 24) -> Screen:
    script = write_program(folder, source)
    return Screen(["run", "--quiet", "--live", "--out", "run.rlprof", *options, script.name], folder, rows=rows)


def test_the_dashboard_stands_below_and_every_line_of_the_program_is_there(tmp_path: Path) -> None:
    screen = live(tmp_path, WRITES)
    shown: list[list[str]] = []

    def drawn() -> bool:
        rows = screen.rows()
        speeds = [at for at, row in enumerate(rows) if "steps/s now" in row]
        if speeds and speeds[-1] > 10 and (not shown or shown[-1][speeds[-1]] != rows[speeds[-1]]):
            shown.append(rows)
        return len(shown) >= 2

    screen.read_until(drawn, "two dashboards with different figures")
    first = shown[0]
    rule = next(at for at, row in enumerate(first) if row.startswith("────"))
    assert any("env.step" in row and "%" in row for row in first[rule:])
    assert any("learn.loss" in row and "%" in row for row in first[rule:])
    assert any(row.startswith("line ") for row in first[:rule])
    assert not any(row.startswith("line ") for row in first[rule:])
    turns = ended_with_every_line(screen, tmp_path)
    # The rows are given back: nothing of the dashboard is left, and the terminal scrolls as a whole again.
    assert not any("steps/s now" in row for row in screen.rows())
    assert b"\x1b[r" in screen.raw
    assert b"\x1b]0" not in screen.raw
    assert read_report(tmp_path / "run.rlprof")["throughput"]["env_steps"] == 10 * turns


def ended_with_every_line(screen: Screen, folder: Path) -> int:
    """Let the program end, and see that nothing of what it wrote is missing: how many lines that were."""
    (folder / "enough").touch()
    assert screen.end() == 7
    rows = screen.everything()
    (done,) = (row.split() for row in rows if row.startswith("done "))
    assert done[2:] == ["True", "True"]
    assert [row for row in rows if row.startswith("line ")] == [f"line {turn}" for turn in range(1, int(done[1]) + 1)]
    return int(done[1])


BARS = """
    import pathlib, time
    from rich.progress import Progress
    from rlprof import count, profile

    with Progress() as bars:
        tasks = [bars.add_task(name, total=100) for name in ("collect", "learn")]
        while not pathlib.Path("enough").exists():
            with profile("env.step"):
                time.sleep(0.02)
            count("env_steps", 8)
            for task in tasks:
                bars.update(task, completed=50)
        for task in tasks:
            bars.update(task, completed=100)
    print("done")
"""


def test_a_progress_bar_of_several_lines_keeps_its_place(tmp_path: Path) -> None:
    screen = live(tmp_path, BARS)
    screen.read_until(lambda: dashboard_is_there(screen), "a dashboard")
    (tmp_path / "enough").touch()
    assert screen.end() == 0
    rows = [row for row in screen.everything() if row][:3]
    assert [row.split()[0] for row in rows] == ["collect", "learn", "done"]
    assert all("100%" in row for row in rows[:2])


READS = """
    import sys, time
    from rlprof import count, profile

    print("name?", flush=True)
    name = sys.stdin.readline().strip()
    print("hello", name, flush=True)
    try:
        while True:
            with profile("env.step", phase="env.step"):
                time.sleep(0.02)
            count("env_steps")
    except KeyboardInterrupt:
        if name == "handles":
            print("saved", flush=True)
            raise SystemExit(9)
        raise
"""


def asked_and_answered(folder: Path, name: str) -> Screen:
    """A program that has its answer, and a dashboard below it."""
    screen = live(folder, READS)
    screen.read_until(lambda: "name?" in screen.rows(), "the question")
    screen.press(name.encode() + b"\n")
    screen.read_until(lambda: dashboard_is_there(screen), "a dashboard")
    assert f"hello {name}" in screen.everything()
    return screen


def dashboard_is_there(screen: Screen) -> bool:
    return any("steps/s now" in row for row in screen.rows())


def test_ctrl_z_gives_the_terminal_back_and_ctrl_c_is_the_programs(tmp_path: Path) -> None:
    screen = asked_and_answered(tmp_path, "handles")
    # No shell sits above to continue what Ctrl-Z has stopped, and an orphaned group is not stopped by the terminal.
    os.kill(screen.pid, signal.SIGTSTP)
    _, status = os.waitpid(screen.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    screen.read_until(lambda: not dashboard_is_there(screen), "an empty lower end")
    os.kill(screen.pid, signal.SIGCONT)
    screen.read_until(lambda: dashboard_is_there(screen), "the dashboard again")
    screen.press(b"\x03")
    assert screen.end() == 9
    assert any(row.endswith("saved") for row in screen.everything())
    assert not dashboard_is_there(screen)


def test_a_program_that_dies_of_ctrl_c_does_so(tmp_path: Path) -> None:
    screen = asked_and_answered(tmp_path, "dies")
    screen.press(b"\x03")
    assert screen.end() == -signal.SIGINT
    assert not dashboard_is_there(screen)


def test_without_a_terminal_it_says_so_in_one_line_and_goes_on(tmp_path: Path) -> None:
    script = write_program(
        tmp_path, "import rlprof\nwith rlprof.profile('work'):\n    print('ran')\nraise SystemExit(4)"
    )
    done = run_recorded(script, options=["--live"])
    assert (done.code, done.out) == (4, "ran\n")
    assert "\x1b" not in done.err
    assert [("--live needs a terminal" in line) for line in done.own_lines] == [True, False]


def test_a_terminal_without_room_is_left_to_the_program(tmp_path: Path) -> None:
    screen = live(tmp_path, WRITES, rows=8)
    screen.read_until(lambda: "line 80" in screen.everything(), "a while")
    ended_with_every_line(screen, tmp_path)
    assert b"steps/s now" not in screen.raw
