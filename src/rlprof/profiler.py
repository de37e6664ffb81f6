"""The profiler object that programs use: it ties recording, analysis and rendering together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from rlprof.model.recording import Recording
    from rlprof.model.report import Report
    from rlprof.probes.install import Probes
    from rlprof.record.options import Options


class ReportView:
    """A report that can be read in several forms. `data` holds its numbers."""

    def __init__(self, data: Report) -> None:
        self.data = data

    def text(self) -> str:
        from rlprof.render.text import render_text

        return render_text(self.data)

    def json(self) -> str:
        from rlprof.render.json import render_json

        return render_json(self.data)

    def markdown(self) -> str:
        from rlprof.render.markdown import render_markdown

        return render_markdown(self.data)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from rlprof.render.notebook import render_notebook

        return render_notebook(self.data)

    def _repr_markdown_(self) -> str:
        """For a notebook's front end that shows no HTML."""
        return self.markdown()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How IPython shows it in a terminal."""
        printer.text(repr(self) if cycle else self.text())


class Profiler:
    """Records this process and reports on it. There is one per process: `get_profiler()`."""

    def __init__(self) -> None:
        self._last: Path | None = None
        self._kept: Recording | None = None
        self._probes: Probes | None = None

    def enable(self) -> None:
        """Record into memory, or go on after `disable`."""
        import threading

        from rlprof import _core
        from rlprof.record.options import Options
        from rlprof.record.session import Session, begin, current_session

        if current_session() is None:
            begin(Session(None, Options()))
        else:
            _core.switch_on(threading.main_thread().ident)

    def disable(self) -> None:
        """Stop recording for now; what was recorded is kept."""
        from rlprof import _core

        _core.switch_off()

    def reset(self) -> None:
        """Forget what was recorded so far."""
        from rlprof.record.session import current_session

        session = current_session()
        if session is not None:
            session.reset()

    def start(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        probes: bool = False,
        memory: bool = True,
        sampler_hz: float | None = None,
        schedule: str | None = None,
        follow_children: bool = True,
        overwrite: bool = False,
    ) -> Path:
        """Record into a file, which is whole after `stop`. Without a path it gets a name below `rlprof-runs/`.

        With `probes`, the libraries that the program uses are looked into until `stop`, here and in child processes.
        """
        import sys
        from pathlib import Path

        from rlprof.record.complain import complain
        from rlprof.record.options import Options, Schedule
        from rlprof.record.session import Session, begin, current_session
        from rlprof.recording.discard import discard
        from rlprof.recording.place import claim, default_target

        running = current_session()
        if running is not None and running.target is not None:
            complain("start", f"already recording into {running.target}; this start() changes nothing")
            return running.target
        if running is not None:
            self.stop()
        options = Options(
            memory=memory,
            sampler_hz=sampler_hz,
            schedule=Schedule.parse(schedule) if schedule else None,
            follow_children=follow_children,
            probes=probes,
        )
        target = Path(path) if path is not None else default_target(sys.argv[0] or "run")
        if overwrite:
            discard(target)
        target = claim(target, numbered=path is None)
        begin(Session(target, options))
        if probes:
            self._arm_probes(options)
        return target

    def _arm_probes(self, options: Options) -> None:
        from rlprof.probes.install import Probes

        self._probes = Probes(options)
        self._probes.start()

    def stop(self) -> Path | None:
        """End the recording and give the file it is in, or None when it was in memory or there was none.

        Where the file cannot be written, what was recorded stays in its directory of parts, and that is given.
        """
        import sqlite3

        from rlprof.model.errors import RlprofError
        from rlprof.record.complain import complain
        from rlprof.record.session import current_session, end
        from rlprof.recording.merge import merge
        from rlprof.recording.place import parts_of

        session = current_session()
        if session is None or session.managed:
            return None
        if self._probes is not None:
            self._probes.stop()
            self._probes = None
        if session.target is None:
            self._kept, self._last = session.snapshot(), None  # the latest recording is the one to report on
            end()
            return None
        end()
        try:
            self._last = merge(session.target)
        except (RlprofError, OSError, sqlite3.Error) as error:
            self._last = parts_of(session.target)
            complain("merge", f"the recording stays in parts in {self._last}: {error}")
        return self._last

    def _recording(self) -> Recording:
        from rlprof.model.errors import EmptyRecording
        from rlprof.record.session import current_session
        from rlprof.recording import open_recording

        session = current_session()
        if session is not None:
            return session.snapshot()
        if self._last is not None:
            return open_recording(self._last)
        if self._kept is None:
            raise EmptyRecording("nothing was recorded: call get_profiler().enable() or .start(path) first")
        return self._kept

    def report(self) -> ReportView:
        """The full report of what was recorded up to now."""
        from rlprof.advise.report import complete_report
        from rlprof.record.session import no_fork_meanwhile

        with no_fork_meanwhile():
            return ReportView(complete_report(self._recording()))

    def summary(self) -> str:
        """A short table of what was recorded up to now."""
        from rlprof.render.summary import render_summary

        return render_summary(self.report().data)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write what this process recorded up to now to a file."""
        from pathlib import Path

        from rlprof.model.errors import EmptyRecording, OutputExists
        from rlprof.record.session import current_session

        session = current_session()
        target = Path(path)
        if session is None:
            raise EmptyRecording("nothing is being recorded: call save() before stop()")
        if target.exists() and not overwrite:
            raise OutputExists(f"{target} exists already: choose another name or pass overwrite=True")
        target.unlink(missing_ok=True)
        session.save_copy(target)
        return target


_profiler = Profiler()


def get_profiler() -> Profiler:
    """The profiler of this process."""
    return _profiler


def open_report(path: str | os.PathLike[str]) -> ReportView:
    """The report of a recording on disk, or of a run that goes on; in a notebook it shows itself."""
    from rlprof.advise.report import complete_report
    from rlprof.recording import open_recording

    return ReportView(complete_report(open_recording(path)))
