"""One recording of this process, from start to stop, and its continuation in forked children."""

from __future__ import annotations

import atexit
import os
import sqlite3
import sys
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rlprof import _core
from rlprof.model.phases import PHASES
from rlprof.model.recording import Recording, Status
from rlprof.record.background import Background
from rlprof.record.calibrate import calibrate
from rlprof.record.children import ExportedSession, Inheritance
from rlprof.record.complain import complain, forget
from rlprof.record.facts import machine_facts
from rlprof.record.flush import SLOWEST_EVERY, Flusher
from rlprof.record.forks import SqliteLocks
from rlprof.record.identity import Identity
from rlprof.record.memory import MemorySpan, PeakReader, PeakTracker
from rlprof.record.options import Options
from rlprof.record.own_cost import Calibration
from rlprof.record.stretches import stretches
from rlprof.recording.place import PART_SUFFIX, parts_of
from rlprof.recording.store import PartStore


class Session:
    """Records this process into a part of `target`, or into memory when there is no target."""

    def __init__(
        self,
        target: Path | None,
        options: Options,
        *,
        role: str = "main",
        parent_uid: str | None = None,
        calibration: Calibration | None = None,
        managed: bool = False,
    ) -> None:
        self.managed = managed  # begun from outside the program, and ended there too
        self.target = target
        self.options = options
        self.calibration = calibration
        self._role = role
        self._parent_uid = parent_uid
        self._lock = threading.Lock()  # between the writer thread and a caller who wants the numbers now
        self._exported: ExportedSession | None = None
        self._ended = False
        self._may_follow = True

    def start(self) -> None:
        """Calibrate, then record. Anything that cannot be set up is said once and left out."""
        forget()
        _core.wipe()
        _core.configure(phases=PHASES, keep_slowest=self.options.keep_slowest)
        self.calibration = self.calibration or calibrate()
        self.identity = Identity.of_this_process(self._role, self._parent_uid)
        stretches.begin(self._role)
        self._flusher = self._new_flusher()
        self._configure_core()
        self._background = self._new_background()
        if self.target is not None and self.options.follow_children:
            self._exported = ExportedSession(Inheritance(str(self.target), self.options, self.identity.uid))
        if "fork" not in self._role:
            self.flush()  # so that a kill right at the start leaves a trace; forked workers should start quickly
        _core.switch_on(threading.main_thread().ident)
        self._background.start()

    def _part(self) -> Path | None:
        if self.target is None:
            return None
        return parts_of(self.target) / f"{self.identity.uid}{PART_SUFFIX}"

    def _new_flusher(self) -> Flusher:
        store = PartStore(self._part())
        facts = machine_facts()
        if self.options.expectations:
            facts["expectations"] = list(self.options.expectations)
        calibration = self.calibration or Calibration({}, {})
        return Flusher(store, self.identity, facts, calibration, self.options.budget, SLOWEST_EVERY)

    def _configure_core(self) -> None:
        tracker = PeakTracker(PeakReader(), self._stop_tracking) if self.options.memory else None

        def memory_span(name: str, phase: str | None) -> MemorySpan:
            assert tracker is not None
            return MemorySpan(tracker, name, phase)

        def bad_phase(name: str, phase: object) -> None:
            message = f"span {name!r} names the phase {phase!r}, which does not exist"
            if complain(f"phase {phase!r}", f"{message}; it is recorded without one"):
                self._flusher.warn("unknown-phase", message, f"phases are: {', '.join(PHASES)}")

        schedule = self.options.events_schedule if self._role == "main" else self.options.schedule
        _core.configure(
            phases=PHASES,
            schedule=schedule.as_tuple() if schedule else None,
            keep_slowest=self.options.keep_slowest,
            memory_span=memory_span if tracker is not None else None,
            bad_phase=bad_phase,
        )

    def _stop_tracking(self, error: Exception) -> None:
        message = f"exact memory peaks failed and were switched off: {error!r}"
        complain("memory", f"{message}; the rest is recorded")
        self._flusher.warn("memory-failed", message, "leave out track_memory, or look at what the system forbids")

    def _new_background(self) -> Background:
        return Background(self._flusher, self.options, self._flush_quietly, self._give_up)

    def warn(self, code: str, message: str, remedy: str) -> None:
        """Put a warning into the recording."""
        self._flusher.warn(code, message, remedy)

    @property
    def open_spans(self) -> list[tuple[int, int]]:
        """Path and start of the spans that were open at the latest flush."""
        return self._flusher.open_spans

    def flush(self, status: Status = "running", exit_code: int | None = None) -> bool:
        with self._lock:
            if self._ended:
                return True
            if self._flusher.store.missing():
                if self.target is not None and self.target.exists():
                    self._retire()
                    return True
                self._replace_lost_file()
            return self._flusher.flush(status, exit_code)

    def _flush_quietly(self) -> None:
        self.flush()

    def _give_up(self, error: Exception) -> None:
        """Writing failed in a way that nobody foresaw: recording ends, training goes on."""
        _core.switch_off()
        message = f"recording failed and was switched off: {error!r}"
        complain("writer", f"{message}; training goes on")
        self._flusher.warn("writer-failed", message, "report it as a fault of rlprof")

    def _retire(self) -> None:
        """The run is over and its parts were joined without this process, which lives on: it has no file any more."""
        _core.switch_off()
        self._ended = True
        self._flusher.store.close()

    def _replace_lost_file(self) -> None:
        """Someone removed the directory: put everything into a new one."""
        store = self._flusher.store
        assert store.path is not None
        try:
            store.move_to(store.path)
        except (OSError, sqlite3.Error) as error:
            complain("gone", f"the recording's directory was removed ({error}); training goes on")
            return
        complain("gone", f"the recording's directory was removed; it was made again at {store.path.parent}")
        self._flusher.warn("directory-removed", "the recording's directory was removed during the run", "leave it be")

    def snapshot(self) -> Recording:
        """What was recorded up to now."""
        from rlprof.recording.reader import read_connection

        self.flush()
        with self._lock:
            connection = self._flusher.store.snapshot()
        return read_connection(connection, str(self.target or "memory"))

    def save_copy(self, path: Path) -> None:
        """Write what was recorded up to now to a file."""
        self.flush()
        with self._lock:
            self._flusher.store.save_copy(path)

    def reset(self) -> None:
        """Forget what was recorded up to now and go on. Spans that are open are forgotten with it."""
        was_on = _core.is_on()
        self._background.stop()
        with self._lock:
            path = self._flusher.store.path
            self._flusher.store.close()
            if path is not None:
                for stale in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
                    stale.unlink(missing_ok=True)
            _core.wipe()
            self.identity = Identity.of_this_process(self._role, self._parent_uid)
            stretches.begin(self._role)
            self._flusher = self._new_flusher()
            self._background = self._new_background()
        if was_on:
            _core.switch_on(threading.main_thread().ident)
        self._background.start()

    def stop(self, status: Status = "completed", exit_code: int | None = None) -> None:
        """Write the rest and let go of everything that was set up."""
        _core.switch_off()
        if not self._background.stop(lambda: self._write_rest(status, exit_code)):
            complain("writer", "the disk does not answer; the last seconds are not recorded")
        if self._exported is not None:
            self._exported.withdraw()

    def _write_rest(self, status: Status, exit_code: int | None) -> None:
        try:
            self.flush(status, exit_code)
        except Exception as error:
            self._give_up(error)
        with self._lock:
            if not self._ended:
                self._ended = True
                self._flusher.store.close()

    # --- fork ---------------------------------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """No thread of ours may be inside SQLite when the process is copied: its locks would be copied held."""
        self._background.stop()
        self._check_place()

    def _check_place(self) -> None:
        """Whether a child could begin a part of its own. Said here, once, and not by every child that could not."""
        if self.target is None or not self.options.follow_children:
            return
        if self._flusher.store.missing():
            self._replace_lost_file()
        parts = parts_of(self.target)
        self._may_follow = os.access(parts, os.W_OK | os.X_OK)
        if not self._may_follow:
            complain("place", f"{parts} cannot be written to; new processes are not recorded")
            self._flusher.warn("children-unrecorded", f"{parts} could not be written to", "leave its mode as it was")

    def after_fork_in_parent(self) -> None:
        self._background.start()

    def follows_into_children(self) -> bool:
        return self.options.follow_children and self.target is not None and self._may_follow

    def continued_in_child(self) -> Session:
        """The session of a forked child. The parent's connection is not touched: it belongs to the parent."""
        return Session(
            self.target,
            self.options,
            role="fork",
            parent_uid=self.identity.uid,
            calibration=self.calibration,
            managed=True,
        )


class ServerSession(Session):
    """multiprocessing's fork server: it records nothing itself, but the workers it forks are recorded."""

    def start(self) -> None:
        forget()
        _core.configure(phases=PHASES, keep_slowest=self.options.keep_slowest)
        self.calibration = self.calibration or calibrate()
        self.identity = Identity.of_this_process(self._role, self._parent_uid)

    def stop(self, status: Status = "completed", exit_code: int | None = None) -> None:
        return None

    def before_fork(self) -> None:
        return None

    def after_fork_in_parent(self) -> None:
        return None

    def continued_in_child(self) -> Session:
        return Session(
            self.target,
            self.options,
            role="forkserver",
            parent_uid=self._parent_uid,
            calibration=self.calibration,
            managed=True,
        )


# --- the one session of this process ----------------------------------------------------------------------------------

_current: Session | None = None
_inherited: list[Session] = []  # of parent processes, kept so that nothing of theirs is ever finalised here
_hooked = False
_fork_gate = threading.RLock()  # two threads may fork at once; our threads are stopped and started for one at a time
_sqlite_locks: SqliteLocks | None = None


def current_session() -> Session | None:
    return _current


def no_fork_meanwhile() -> AbstractContextManager[Any]:
    """Held by a thread of the program's that reads its own recording: a fork waits for it.

    SQLite is called with the interpreter lock held. Whoever waits there for one of the locks that a fork holds would
    keep the forking thread from ever letting go of them.
    """
    return _fork_gate


def begin(session: Session) -> None:
    """Start a session and look after it at fork and at exit."""
    global _current, _hooked
    session.start()
    _current = session
    if not _hooked:
        _hooked = True
        if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
            os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
        atexit.register(_at_exit)


def end(status: Status = "completed", exit_code: int | None = None) -> None:
    """Stop the current session, if there is one."""
    global _current
    session, _current = _current, None
    if session is not None:
        session.stop(status, exit_code)


def _guarded(code: str, action: Any) -> None:
    try:
        action()
    except Exception as error:
        complain(code, f"{code} failed: {error!r}; the program goes on")


def _before_fork() -> None:
    global _sqlite_locks
    _fork_gate.acquire()
    if _current is not None:
        _guarded("preparing a fork", _current.before_fork)
        _sqlite_locks = _sqlite_locks or SqliteLocks()
        _sqlite_locks.hold()


def _after_in_parent() -> None:
    if _sqlite_locks is not None:
        _sqlite_locks.release()
    if _current is not None:
        _guarded("going on after a fork", _current.after_fork_in_parent)
    _fork_gate.release()


def _after_in_child() -> None:
    global _fork_gate
    _fork_gate = threading.RLock()
    if _sqlite_locks is not None:
        _sqlite_locks.release()
    _guarded("recording a forked process", _continue_in_child)


def _continue_in_child() -> None:
    global _current
    session, _current = _current, None
    if session is None:
        return
    _inherited.append(session)
    _core.wipe()
    if not session.follows_into_children() or _is_about_to_exec():
        return
    begin(session.continued_in_child())
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_current, lambda _: end_with_worker())  # it first forgets its parent's finalisers


def _is_about_to_exec() -> bool:
    """Whether this is `subprocess` between fork and exec: it only comes by here when it has a preexec_fn."""
    subprocess = sys.modules.get("subprocess")
    frame = sys._getframe()
    while subprocess is not None and frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code is subprocess.Popen._execute_child.__code__:
            return True
    return False


def end_with_worker() -> None:
    """A worker of multiprocessing leaves by os._exit, past atexit; its own finalisers are what runs last."""
    from multiprocessing import util

    util.Finalize(None, _end_worker, exitpriority=-1000)


def _end_worker() -> None:
    # What the worker's function raised is still on its way to multiprocessing, who reports it after the finalisers.
    error = sys.exc_info()[1]
    failed = error is not None and not (isinstance(error, SystemExit) and error.code in (None, 0))
    end("failed" if failed else "completed")


def _at_exit() -> None:
    """The program is over. A second Ctrl-C may come right now: what is written stays, the rest is let go."""
    try:
        end(_how_it_ended())
    except KeyboardInterrupt:
        pass
    except Exception as error:
        complain("exit", f"the recording could not be finished: {error!r}")


def _how_it_ended() -> Status:
    """The interpreter notes an error that nobody caught before it runs the exit handlers."""
    error = getattr(sys, "last_value", None)
    if error is None:
        return "completed"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
