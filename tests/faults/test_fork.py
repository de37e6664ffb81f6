"""Forks at bad moments: no hang, no duplicate, nothing shared that must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import calls, processes, run_bare, run_recorded, warning_codes, write_program

FORKS = 20


def test_a_fork_while_other_threads_are_inside_rlprof_never_hangs_and_loses_nothing(tmp_path: Path) -> None:
    """One thread records as fast as it can, one keeps asking for the report, which reads and writes the database."""
    script = write_program(
        tmp_path,
        f"""
        import os, sys, threading, time, rlprof
        from rlprof import get_profiler

        over = threading.Event()
        recorded = 0


        def record():
            global recorded
            while not over.is_set():
                for _ in range(50):
                    with rlprof.profile("busy"):
                        pass
                    recorded += 1


        def ask():
            while not over.is_set():
                get_profiler().report()


        threads = [threading.Thread(target=record), threading.Thread(target=ask)]
        for thread in threads:
            thread.start()
        for _ in range({FORKS}):
            child = os.fork()
            if child == 0:
                for _ in range(10):
                    with rlprof.profile("child"):
                        pass
                sys.exit(0)  # which writes what it recorded into a database of its own
            deadline = time.monotonic() + 20
            while os.waitpid(child, os.WNOHANG) == (0, 0):
                if time.monotonic() > deadline:
                    os.kill(child, 9)
                    os.waitpid(child, 0)
                    print("a child hung")
                    break
                time.sleep(0.002)
        over.set()
        for thread in threads:
            thread.join()
        print(recorded)
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    assert done.out.splitlines() == done.out.splitlines()[-1:], done.out
    report = done.report()
    assert calls(report, "busy") == int(done.out)
    assert calls(report, "child") == 10 * FORKS
    assert len(processes(report, "fork")) == FORKS
    assert {process["status"] for process in processes(report)} == {"completed"}


#: Allocates inside SQLite, out of reach of the interpreter lock, nearly all of its time.
BUSY_IN_SQLITE = """
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000)
    SELECT count(hex(randomblob(40))) FROM n
"""


def test_a_fork_while_the_programs_own_threads_are_inside_sqlite_does_not_stall_the_child(tmp_path: Path) -> None:
    """Without rlprof the child would not use SQLite: that it inherits a held lock is no fault of the program's."""
    script = write_program(
        tmp_path,
        f"""
        import os, sqlite3, sys, threading, rlprof

        over = threading.Event()


        def use():
            connection = sqlite3.connect(":memory:")
            while not over.is_set():
                connection.execute({BUSY_IN_SQLITE!r}).fetchall()


        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            child = os.fork()
            if child == 0:
                with rlprof.profile("child"):
                    pass
                sys.exit(0)
            os.waitpid(child, 0)
        over.set()
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    assert done.err.splitlines() == ["rlprof: recorded into program.rlprof"]
    assert calls(done.report(), "child") == 12


def test_a_fork_waits_for_our_own_writer_even_where_sqlites_locks_cannot_be_held(tmp_path: Path) -> None:
    """Some interpreters have SQLite linked in out of sight: there, stopping our own threads is what can be done."""
    script = write_program(
        tmp_path,
        f"""
        import os, sqlite3, sys, time, rlprof
        from rlprof.record import background, flush, forks
        from rlprof.record.session import current_session

        forks.SqliteLocks.hold = lambda self: None
        whole, parent = flush.Flusher.flush, os.getpid()
        other = sqlite3.connect(":memory:", check_same_thread=False)


        def long_write(self, *args):
            if os.getpid() == parent:
                other.execute({BUSY_IN_SQLITE!r}).fetchall()
            return whole(self, *args)


        flush.Flusher.flush = long_write
        background.FLUSH_SECONDS = background.SLOWEST_FLUSH_SECONDS = 0.001
        current_session()._background.stop()
        current_session()._background.start()
        time.sleep(0.02)
        for _ in range(12):
            child = os.fork()
            if child == 0:
                with rlprof.profile("child"):
                    pass
                sys.exit(0)
            os.waitpid(child, 0)
            time.sleep(0.005)  # the writer is in the middle of it again
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    assert done.err.splitlines() == ["rlprof: recorded into program.rlprof"]
    assert calls(done.report(), "child") == 12


def test_threads_that_fork_at_once_each_get_their_recorded_child(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        f"""
        import os, sqlite3, sys, threading, time, rlprof
        from rlprof.record.session import current_session

        over = threading.Event()


        def use():
            connection = sqlite3.connect(":memory:")
            while not over.is_set():
                connection.execute({BUSY_IN_SQLITE!r}).fetchall()


        def fork_some():
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    with rlprof.profile("child"):
                        pass
                    current_session().flush()  # this child does not end by way of atexit
                    os._exit(0)
                os.waitpid(child, 0)


        users = [threading.Thread(target=use) for _ in range(2)]
        forkers = [threading.Thread(target=fork_some) for _ in range(4)]
        for thread in users + forkers:
            thread.start()
        for thread in forkers:
            thread.join()
        over.set()
        for thread in users:
            thread.join()
        print(sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("rlprof")))
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    assert done.out == "['rlprof-sampler', 'rlprof-writer']\n"
    assert done.err.splitlines() == ["rlprof: recorded into program.rlprof"]
    report = done.report()
    assert len(processes(report, "fork")) == 20
    assert calls(report, "child") == 20


def test_a_child_that_ends_normally_does_not_undo_what_its_parent_is_writing(tmp_path: Path) -> None:
    """It holds a copy of the parent's database connection, in the middle of a transaction."""
    script = write_program(
        tmp_path,
        """
        import os, sys, threading, time, rlprof
        from rlprof.record.session import current_session
        from rlprof.recording import store

        inside, go_on = threading.Event(), threading.Event()
        whole = store.PartStore._write_chunk


        def pause(self, kind, columns):
            whole(self, kind, columns)
            if threading.current_thread().name == "asker" and not inside.is_set():
                inside.set()
                go_on.wait(30)


        for _ in range(300):
            with rlprof.profile(f"parent {_}"):
                pass
        store.PartStore._write_chunk = pause
        asker = threading.Thread(target=current_session().flush, name="asker")
        asker.start()
        inside.wait(30)
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        go_on.set()
        asker.join()
        for number in range(300):
            with rlprof.profile(f"later {number}"):
                pass
        """,
    )
    done = run_recorded(script)
    assert done.code == 0, done.err
    report = done.report()
    assert done.err.splitlines() == ["rlprof: recorded into program.rlprof"]
    assert "part-unreadable" not in warning_codes(report)
    own = [operation for operation in report["operations"] if operation["phase"] != "gc"]
    assert len(own) == sum(operation["calls"] for operation in own) == 600


def test_a_child_of_a_program_that_records_into_memory_records_nothing(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import os, rlprof
        from rlprof import _core

        rlprof.get_profiler().enable()
        with rlprof.profile("parent"):
            pass
        child = os.fork()
        if child == 0:
            with rlprof.profile("child"):
                pass
            os._exit(1 if _core.is_on() or _core.paths_since(0) else 0)
        assert os.waitpid(child, 0)[1] == 0
        assert rlprof.get_profiler().report().data.operations[0].path == ("parent",)
        """,
    )
    done = run_bare(script)
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_hundreds_of_short_lived_workers_are_all_in_the_report(tmp_path: Path) -> None:
    script = write_program(
        tmp_path,
        """
        import multiprocessing, rlprof


        def work():
            for _ in range(3):
                with rlprof.profile("brief"):
                    pass


        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            for _ in range(30):
                workers = [context.Process(target=work) for _ in range(10)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                    assert worker.exitcode == 0
        """,
    )
    done = run_recorded(script, options=["--sampler-hz", "0"])
    assert done.code == 0, done.err
    report = done.report()
    assert len(processes(report, "fork")) == 300
    assert calls(report, "brief") == 900
    assert "process-silent" not in warning_codes(report)
    assert not list(tmp_path.glob("*.parts"))
