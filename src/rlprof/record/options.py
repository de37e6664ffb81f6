"""How to record: chosen once, handed on to every child process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

from rlprof.model.errors import BadOption

DEFAULT_BUDGET: Final = 0.02
FLUSH_SECONDS: Final = 0.5  # twice a second: a kill costs at most the last second, whatever delays a flush
SLOWEST_FLUSH_SECONDS: Final = 0.75  # where a flush has so much to write that it would take more than the next share
FLUSH_SHARE: Final = 0.004
#: No divisor of common loop rates, so that it does not march in step with them.
FIRST_SAMPLER_HZ: Final = 97.0
#: A thousand samples of the main thread show where its time goes; what comes later may come half as often.
SAMPLER_SETTLES_SECONDS: Final = 10.0
MEMORY_HZ: Final = 10.0
DEFAULT_TRACE: Final = "wait=2,warmup=2,active=4,repeat=1"
MOST_DIGITS: Final = 12  # of a number of iterations: no run has more


@dataclass(frozen=True, slots=True)
class Schedule:
    """When single spans are logged, in iterations: skip `wait + warmup`, log `active`, and so on `repeat` times.

    `repeat` 0 means until the end.
    """

    wait: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int = 0

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Read `wait=2,warmup=2,active=4,repeat=1`; what is left out keeps its default."""
        values: dict[str, int] = {}
        for item in text.split(","):
            name, equals, number = item.strip().partition("=")
            short = number.isascii() and number.isdecimal() and len(number) <= MOST_DIGITS
            if name not in cls.__slots__ or not equals or not short or name in values:
                raise BadOption(f"'{item.strip()}' does not fit a schedule: write wait=2,warmup=2,active=4,repeat=1")
            values[name] = int(number)
        schedule = cls(**values)
        if schedule.active < 1:
            raise BadOption("a schedule needs active=1 or more: it would never log anything")
        return schedule

    def as_tuple(self) -> tuple[int, int, int, int]:
        return self.wait, self.warmup, self.active, self.repeat


@dataclass(frozen=True, slots=True)
class TorchTrace:
    """Windows in which torch.profiler looks on, in iterations, and what it is to note beside the operators."""

    schedule: Schedule
    record_shapes: bool = False
    with_stack: bool = False
    memory: bool = False

    @classmethod
    def parse(cls, text: str) -> TorchTrace:
        """Read `wait=2,warmup=2,active=4,repeat=1,record_shapes`; numbers that are left out are those."""
        words = [word.strip() for word in text.split(",")]
        flags = [word for word in words if word in cls.__slots__ and word != "schedule"]
        numbers = [word for word in words if word not in flags]
        named = {word.partition("=")[0] for word in numbers}
        defaults = [word for word in DEFAULT_TRACE.split(",") if word.partition("=")[0] not in named]
        try:
            schedule = Schedule.parse(",".join([*numbers, *defaults]))
        except BadOption as error:
            wanted = f"write {DEFAULT_TRACE} and, if you like, record_shapes, with_stack, memory behind it"
            raise BadOption(f"--torch-trace: {str(error).partition(': write')[0]}: {wanted}") from None
        return cls(schedule, **dict.fromkeys(flags, True))


@dataclass(frozen=True, slots=True)
class Detailed:
    """A window in which cProfile looks on; `by_phase` keeps a profile for each phase."""

    by_phase: bool = False


def parse_share(text: str) -> float:
    """Read `2%` or `0.02`."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 < share <= 1:
        raise BadOption(f"'{text}' is no share: write 2% or 0.02, and 100% for no limit")
    return share


@dataclass(frozen=True, slots=True)
class Options:
    memory: bool = True
    sampler_hz: float | None = None  # None: FIRST_SAMPLER_HZ, and half of it once there are plenty
    schedule: Schedule | None = None
    keep_slowest: int = 5
    follow_children: bool = True
    probes: bool = True  # look into the libraries a program uses, beside its own annotations
    spans: tuple[str, ...] = ()  # functions of the program to time, as record.targets reads them
    not_env: tuple[str, ...] = ()  # classes and functions of the program that are not what they look like
    not_buffer: tuple[str, ...] = ()
    not_advantage: tuple[str, ...] = ()
    not_evaluation: tuple[str, ...] = ()
    not_teacher: tuple[str, ...] = ()
    expectations: tuple[dict[str, Any], ...] = ()  # rows of speeds to hold the run against, for its facts
    module_depth: int = 0  # how far a forward pass is split by submodule
    budget: float = (
        DEFAULT_BUDGET  # the share of the run that probes may cost before calls that come too often are thinned
    )

    torch_trace: TorchTrace | None = None
    detailed: Detailed | None = None

    @property
    def events_schedule(self) -> Schedule | None:
        """When single spans are logged; in the windows of a torch trace they say what its operators ran in."""
        return self.torch_trace.schedule if self.torch_trace is not None else self.schedule

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Options:
        data = json.loads(text)
        schedule, trace, detailed = data.pop("schedule"), data.pop("torch_trace"), data.pop("detailed")
        for name in (
            "spans",
            "not_env",
            "not_buffer",
            "not_advantage",
            "not_evaluation",
            "not_teacher",
            "expectations",
        ):
            data[name] = tuple(data[name])
        if trace:
            trace = TorchTrace(**{**trace, "schedule": Schedule(**trace["schedule"])})
        return cls(
            **data,
            schedule=Schedule(**schedule) if schedule else None,
            torch_trace=trace or None,
            detailed=Detailed(**detailed) if detailed else None,
        )
