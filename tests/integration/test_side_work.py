"""Logging, saving and garbage collections are seen as side work, by what was called, and change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import Json, assert_ledgers_close, calls, operations, run_bare, run_recorded, write_program

STANDARD_LIBRARY = """
    import csv, gc, json, logging, os, pickle, sys
    from pickle import dump
    import numpy as np
    from rlprof import profile

    logging.basicConfig(stream=sys.stdout, format="%(filename)s:%(lineno)d %(funcName)s %(message)s", level="INFO")
    log = logging.getLogger("train")

    class Noisy(logging.Handler):
        def emit(self, record):
            logging.getLogger("inner").debug("a handler that logs")

    log.addHandler(Noisy())
    for step in range(10):
        log.info("step %d", step)
        log.debug("not shown")
    with open("rows.csv", "w") as file:
        rows = csv.DictWriter(file, ["a"])
        rows.writeheader()
        rows.writerows([{"a": 1}, {"a": 2}])
        rows.writerow({"a": 3})
    print(open("rows.csv").read())
    with open("rows.json", "w") as file:
        json.dump({"a": 1}, file)
        file.flush()
        os.fsync(file.fileno())
    print(open("rows.json").read())
    for save in (dump, pickle.dump):
        with open("a.pkl", "wb") as file:
            save({"a": 1}, file)
    print(pickle.load(open("a.pkl", "rb")))
    np.save("a.npy", np.arange(3))
    np.savez("a.npz", a=np.arange(3))
    np.savez_compressed("b.npz", a=np.arange(3))
    np.savetxt("a.txt", np.arange(3))
    print(np.load("a.npy"), np.load("a.npz")["a"], np.load("b.npz")["a"])
    same = pickle.loads(pickle.dumps([pickle.dump, np.save]))
    print([found is known for found, known in zip(same, [pickle.dump, np.save])])

    class Knot:
        pass

    gc.disable()
    with profile("work", phase="env.step"):
        for _ in range(200_000):
            knot = Knot()
            knot.itself = knot
        gc.collect()
    gc.enable()
"""

TENSORBOARD = """
    import sys
    import numpy as np
    from LIBRARY import SummaryWriter

    class Mine(SummaryWriter):
        def add_scalar(self, *args, **kwargs):
            return super().add_scalar(*args, **kwargs)

    writer = Mine("tb")
    for step in range(5):
        writer.add_scalar("a", step, step)
        writer.add_scalars("b", {"x": step, "y": step}, step)
        writer.add_histogram("c", np.arange(10.0), step)
        writer.add_text("d", "hello", step)
    writer.flush()
    writer.close()
"""

SAFETENSORS = """
    import numpy as np
    from safetensors.numpy import load_file, save_file
    save_file({"a": np.arange(3)}, "a.safetensors")
    print(load_file("a.safetensors"))
"""

WANDB = """
    import wandb
    run = wandb.init(project="p", dir=".", mode="offline", settings=wandb.Settings(silent=True, x_disable_stats=True))
    for step in range(5):
        wandb.log({"a": step})
    run.log({"b": 1})
    wandb.finish()
"""


def recorded(folder: Path, program: str, **env: str) -> Json:
    script = write_program(folder, program)
    bare, done = run_bare(script, **env), run_recorded(script, **env)
    assert bare.code == 0, bare.err
    assert (done.code, done.out) == (0, bare.out), done.err
    report = done.report()
    assert_ledgers_close(report)
    return report


@pytest.fixture(scope="module")
def standard_library(tmp_path_factory: pytest.TempPathFactory) -> Json:
    return recorded(tmp_path_factory.mktemp("standard"), STANDARD_LIBRARY)


def phase_of(report: Json, name: str) -> set[str]:
    return {operation["phase"] for operation in operations(report, name)}


def test_a_log_line_counts_once_and_names_the_line_that_logged_it(standard_library: Json) -> None:
    assert (calls(standard_library, "logging"), phase_of(standard_library, "logging")) == (10, {"log"})


def test_rows_of_a_dict_writer_are_logging(standard_library: Json) -> None:
    assert (calls(standard_library, "csv"), phase_of(standard_library, "csv")) == (3, {"log"})


@pytest.mark.parametrize("name", ["json.dump", "os.fsync"])
def test_rows_that_are_written_by_hand_are_logging(standard_library: Json, name: str) -> None:
    assert (calls(standard_library, name), phase_of(standard_library, name)) == (1, {"log"})


@pytest.mark.parametrize(
    ("name", "times"),
    [("pickle.dump", 2), ("numpy.save", 1), ("numpy.savez", 1), ("numpy.savez_compressed", 1), ("numpy.savetxt", 1)],
)
def test_what_is_saved_is_a_checkpoint(standard_library: Json, name: str, times: int) -> None:
    assert (calls(standard_library, name), phase_of(standard_library, name)) == (times, {"checkpoint"})


def test_a_collection_is_taken_off_the_span_it_interrupts(standard_library: Json) -> None:
    (work,) = operations(standard_library, "work")
    (collection,) = (each for each in operations(standard_library, "gc generation 2") if each["path"][0] == "work")
    assert (collection["path"], collection["phase"]) == (["work", "gc generation 2"], "gc")
    assert collection["calls"] == 1
    assert work["self_seconds"] == pytest.approx(work["total_seconds"] - collection["total_seconds"], rel=0.05)
    assert collection["total_seconds"] > 0.01 * work["total_seconds"]


@pytest.mark.parametrize("library", ["torch.utils.tensorboard", "tensorboardX"])
def test_what_a_summary_writer_is_given_is_logging_each_call_once(tmp_path: Path, library: str) -> None:
    pytest.importorskip("tensorboard" if library.startswith("torch") else library)
    pytest.importorskip("torch")
    report = recorded(tmp_path, TENSORBOARD.replace("LIBRARY", library))
    short = "tensorboard" if library.startswith("torch") else library
    for name, times in {"add_scalar": 5, "add_scalars": 5, "add_histogram": 5, "add_text": 5, "close": 1}.items():
        assert calls(report, f"{short}.{name}") == times
    assert phase_of(report, f"{short}.add_histogram") == {"log"}


def test_safetensors_files_are_checkpoints(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    report = recorded(tmp_path, SAFETENSORS)
    assert (calls(report, "safetensors.save_file"), phase_of(report, "safetensors.save_file")) == (1, {"checkpoint"})


def test_a_run_of_weights_and_biases_is_logging(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    report = recorded(tmp_path, WANDB)
    assert [calls(report, f"wandb.{name}") for name in ("init", "log", "finish")] == [1, 6, 1]
    assert phase_of(report, "wandb.log") == {"log"}
