"""Threads that record as fast as they can: every span is counted, memory stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.recording import open_recording
from support.programs import Outcome, assert_ledgers_close, calls, run_recorded, warning_codes, write_program

HAMMERS = """
    import sys, threading, time, rlprof

    THREADS, seconds = 8, float(sys.argv[1])


    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096


    def hammer(number):
        done = 0
        while time.monotonic() < end:
            for _ in range(1000):
                with rlprof.profile("empty"):
                    pass
            done += 1000
        totals[number] = done


    end = time.monotonic() + seconds
    totals = [0] * THREADS
    threads = [threading.Thread(target=hammer, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    time.sleep(min(1.0, seconds / 3))
    before = resident()
    for thread in threads:
        thread.join()
    print(sum(totals), resident() - before)
"""


def check(done: Outcome) -> None:
    assert done.code == 0, done.err
    emptied, growth = map(int, done.out.split())
    report = done.report()
    assert calls(report, "empty") == emptied
    assert report["losses"]["spans_dropped"] == 0
    assert "losses" not in warning_codes(report)
    main = open_recording(done.target).main
    collections = [entry["calls"] for entry in report["operations"] if entry["path"][-1].startswith("gc generation ")]
    assert main.tally["spans_emitted"] == main.tally["spans_written"] == emptied + sum(collections)
    assert emptied > 100_000
    assert growth <= 16 << 20
    assert_ledgers_close(report)


def test_eight_threads_that_record_empty_spans_for_seconds_are_counted_exactly(tmp_path: Path) -> None:
    check(run_recorded(write_program(tmp_path, HAMMERS), "3"))


@pytest.mark.slow
def test_eight_threads_that_record_empty_spans_for_a_minute_are_counted_exactly(tmp_path: Path) -> None:
    check(run_recorded(write_program(tmp_path, HAMMERS), "50"))


@pytest.mark.slow
def test_more_names_than_there_is_room_for_are_counted_under_a_common_one(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import rlprof

        for number in range(20_000):
            with rlprof.profile(f"name {number}"):
                pass
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    report = done.report()
    assert sum(operation["calls"] for operation in report["operations"]) == 20_000
    assert len(report["operations"]) < 5_000
    assert_ledgers_close(report)


def test_more_events_than_can_be_written_are_dropped_and_counted(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import rlprof

        with rlprof.iteration():
            for _ in range(3_000_000):
                with rlprof.profile("quick"):
                    pass
        """,
    )
    done = run_recorded(script, options=["--schedule", "active=1"])
    assert done.code == 0, done.err
    main = open_recording(done.target).main
    assert main.tally["events_emitted"] == len(main.events.path) + main.losses["events_dropped"] == 3_000_001
