"""torch.profiler in some iterations: its trace, beside the recording, and marks that tie its clock to ours."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rlprof import _core
from rlprof.record.device import allocator
from rlprof.record.options import TorchTrace
from rlprof.recording.place import trace_of

#: A range of this name and a number is where the recording's clock was read.
CLOCK: Final = "rlprof.clock#"
UNSURE: Final = -1  # in place of a reading
SURE_NS: Final = 50_000
MARK_TRIES: Final = 8
_QUIET: Final = "6"  # of Kineto's levels: it would say on stderr that it starts and stops


class TorchWindow:
    """Drives the real torch.profiler by rlprof's iterations. Torch is the program's: without it nothing happens."""

    name: Final = "torch.profiler"
    code: Final = "torch-trace"

    def __init__(self, target: Path, wanted: TorchTrace) -> None:
        self._target = target
        self._wanted = wanted
        self._profiler: Any = None
        self._files: list[str] = []
        self._marks: list[int] = []
        self._saved = False
        self._through = False
        self._cycle = 0
        self.busy = False  # what happens to torch's profilers now is our doing

    def in_the_way(self) -> str | None:
        torch: Any = sys.modules["torch"]
        enabled = torch._C._autograd._profiler_enabled()
        return "the program uses torch.profiler itself: no torch trace of rlprof" if enabled else None

    def opens(self, turn: int) -> bool:
        wait, warmup, active, repeat = self._wanted.schedule.as_tuple()
        self._cycle, at = divmod(turn, wait + warmup + active)
        self._through = 0 < repeat <= self._cycle
        return at == wait and not self._through and "torch" in sys.modules

    def is_through(self) -> bool:
        return self._through

    def open(self) -> None:
        torch: Any = sys.modules["torch"]
        profiler = torch.profiler
        activities = [profiler.ProfilerActivity.CPU]
        if allocator() is not None:
            activities.append(profiler.ProfilerActivity.CUDA)
        _, warmup, active, _ = self._wanted.schedule.as_tuple()
        self._marks, self._files = [], []
        with self._our_doing():
            self._profiler = profiler.profile(
                activities=activities,
                schedule=profiler.schedule(wait=0, warmup=warmup, active=active, repeat=1),
                on_trace_ready=self._save,
                record_shapes=self._wanted.record_shapes,
                with_stack=self._wanted.with_stack,
                profile_memory=self._wanted.memory,
            )
            self._profiler.start()
        self._mark()

    def turned(self) -> None:
        with self._our_doing():
            self._profiler.step()
        self._mark()

    def closes(self, turns: int, seconds: float) -> bool:
        _, warmup, active, _ = self._wanted.schedule.as_tuple()
        return turns >= warmup + active

    def close(self) -> dict[str, Any]:
        self._mark()
        profiler, self._profiler = self._profiler, None
        with self._our_doing():
            profiler.stop()
        self._through = self._cycle + 1 == self._wanted.schedule.repeat
        return {"files": self._files, "marks": self._marks, "warmup": self._wanted.schedule.warmup}

    def abandon(self) -> None:
        return None  # torch's profiler does not follow into a forked child

    def missed(self) -> tuple[str, str] | None:
        if self._saved:
            return None
        if "torch" not in sys.modules:
            return "no torch was imported: no trace", "leave out --torch-trace"
        return self._too_short()

    def _too_short(self) -> tuple[str, str]:
        wait, warmup, _, _ = self._wanted.schedule.as_tuple()
        first = f"the trace would have begun in iteration {wait + warmup + 1}"
        return f"the program ended too soon for a torch trace: {first}", "train longer, or choose a smaller wait"

    def _save(self, profiler: Any) -> None:
        file = trace_of(self._target, self._cycle)
        profiler.export_chrome_trace(str(file))
        os.chmod(file, 0o600)
        self._files, self._saved = [file.name], True

    def _mark(self) -> None:
        """A range in the trace, begun between two readings of our clock.

        Where something else ran in between, nobody knows when it began: then another one is tried.
        """
        torch: Any = sys.modules["torch"]
        profiler = torch.ops.profiler
        for number in range(MARK_TRIES):
            before = _core.clock_ns()
            handle = profiler._record_function_enter_new(f"{CLOCK}{len(self._marks)}", None)
            after = _core.clock_ns()
            profiler._record_function_exit._RecordFunction(handle)
            is_sure = after - before < SURE_NS
            self._marks.append((before + after) // 2 if is_sure or number == MARK_TRIES - 1 else UNSURE)
            if is_sure:
                return

    @contextlib.contextmanager
    def _our_doing(self) -> Iterator[None]:
        """Quietly: what torch has to say about its profiler is not about the program."""
        said = os.environ.get("KINETO_LOG_LEVEL")
        self.busy = True
        if said is None:
            os.environ["KINETO_LOG_LEVEL"] = _QUIET
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            self.busy = False
            if said is None:
                os.environ.pop("KINETO_LOG_LEVEL", None)
