"""`rlprof run --tensorboard` and `--wandb` log while the program trains, from outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import RLPROF, environment, recorded_command, run, run_recorded, started, wait_for, write_program
from support.wandb_files import history_of

TRAINS = """
    import pathlib, sys, time
    from rlprof import count, profile

    end = time.monotonic() + 20
    while time.monotonic() < end and not pathlib.Path("enough").exists():
        with profile("step", phase="env.step"):
            time.sleep(0.02)
        count("env_steps", 5)
        with profile("learn", phase="learn.loss"):
            time.sleep(0.01)
    print(sorted({"tensorboard", "wandb", "google.protobuf"} & set(sys.modules)), flush=True)
"""
SPEED = "rlprof/env_steps_per_second"


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    if not folder.is_dir():
        return {}
    board = loading.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    board.Reload()
    return {tag: [(event.step, event.value) for event in board.Scalars(tag)] for tag in board.Tags()["scalars"]}


def test_tensorboard_can_follow_the_training_and_ends_with_all_of_it(tmp_path: Path) -> None:
    script, target, folder = write_program(tmp_path, TRAINS), tmp_path / "run.rlprof", tmp_path / "board"
    with started(recorded_command(target, [script], ["--tensorboard", "board"]), tmp_path) as process:
        wait_for(lambda: len(scalars(folder).get(SPEED, [])) >= 3, "scalars while the program runs")
        assert process.poll() is None
        (tmp_path / "enough").touch()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "[]\n"), err
    logged = scalars(folder)
    assert {"rlprof/share/env.step", "rlprof/share/learn.loss"} <= set(logged)
    run([*RLPROF, "export", "run.rlprof", "--to", "tensorboard", "--out", "exported"], tmp_path)
    exported = scalars(tmp_path / "exported")
    assert [step for step, _ in logged[SPEED]] == [step for step, _ in exported[SPEED]]
    assert logged[SPEED][-1][0] % 5 == 0


def test_wandb_gets_a_run_of_its_own(tmp_path: Path) -> None:
    script = write_program(tmp_path, TRAINS.replace("+ 20", "+ 1.5"))
    done = run_recorded(
        script, options=["--wandb"], WANDB_MODE="offline", WANDB_RUN_ID="the-programs", HOME=str(tmp_path)
    )
    assert (done.code, done.out) == (0, "[]\n"), done.err
    (file,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    assert "the-programs" not in file.name
    rows = history_of(file)
    steps = [row["rlprof/env_steps"] for row in rows]
    assert steps == sorted(steps)
    assert steps[-1] == done.report()["throughput"]["env_steps"]
    assert all(row[SPEED] >= 0 for row in rows)
    assert 0.3 < sum(row.get("rlprof/share/env.step", 0.0) for row in rows) / len(rows) < 0.9
    assert [line for line in done.own_lines if "logging to wandb" in line]


def test_a_program_that_ends_at_once_is_logged_all_the_same(tmp_path: Path) -> None:
    script = write_program(
        tmp_path, "import rlprof\nwith rlprof.profile('env.step'):\n    rlprof.count('env_steps', 7)"
    )
    done = run_recorded(script, options=["--tensorboard", "board"])
    assert done.code == 0, done.err
    assert scalars(tmp_path / "board")[SPEED][-1][0] == 7


@pytest.mark.parametrize(("library", "option"), [("wandb", ["--wandb"]), ("tensorboard", ["--tensorboard", "board"])])
def test_a_library_that_is_not_there_is_said_before_the_program_starts(
    tmp_path: Path, library: str, option: list[str]
) -> None:
    write_program(tmp_path, "raise ImportError('not here')", f"absent/{library}/__init__.py")
    script = write_program(tmp_path, "print('ran')")
    path = f"{tmp_path / 'absent'}:{environment().get('PYTHONPATH', '')}"
    done = run_recorded(script, options=option, PYTHONPATH=path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert f"pip install 'rlprof[{library}]'" in done.err
    assert not list(tmp_path.glob("*.rlprof*"))


def test_wandb_without_a_key_is_said_and_asks_nobody(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('ran')")
    bare = {name: None for name in environment() if name.startswith("WANDB_")}
    done = run_recorded(script, options=["--wandb"], HOME=str(tmp_path), NETRC=str(tmp_path / "none"), **bare)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert "WANDB_MODE=offline" in done.err


def test_a_directory_that_cannot_be_written_to_is_said_before_the_program_starts(tmp_path: Path) -> None:
    script = write_program(tmp_path, "print('ran')")
    done = run_recorded(script, options=["--tensorboard", str(script / "board")])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
