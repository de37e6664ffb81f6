"""With classes being looked at, everything that people do with classes works as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs import run_bare, run_recorded, write_program

CLASSES = """
    import abc, collections, copy, dataclasses, enum, inspect, pickle, sys, typing

    import cloudpickle

    class Keyed(type):
        def __new__(mcs, name, bases, names, **keywords):
            return super().__new__(mcs, name, bases, names)

    class Sealed(type):
        def __setattr__(cls, name, value):
            raise TypeError("sealed")

    class Odd(type):
        def __new__(mcs, name, bases, names):
            print("made in", sys._getframe(1).f_code.co_name)
            return 42

    class First(metaclass=Keyed, key=1):
        def step(self, action, *, times=2) -> tuple:
            "One step."
            return [0.0], 1.0, False, {}

        def reset(self):
            return [0.0]

    class Second(First):
        def step(self, action):
            return super().step(action)

    @dataclasses.dataclass(slots=True)
    class Data:
        count: int = 0

        def step(self, action):
            self.count += 1
            return self.count, 1.0, self.count % 5 == 0, {}

        def reset(self):
            self.count = 0

    class Slots:
        __slots__ = ("count",)

        def step(self, action):
            return 0, 1.0, False, False, {}

        def reset(self):
            return 0, {}

    class Abstract(abc.ABC):
        @abc.abstractmethod
        def step(self, action): ...

        @abc.abstractmethod
        def reset(self): ...

    class Concrete(Abstract):
        def step(self, action):
            return 0, 1.0, False, {}

        def reset(self):
            return 0

    class Moves(enum.Enum):
        step = 1
        reset = 2

        def sample(self):
            return self

        def add(self, other):
            return other

    class Row(typing.NamedTuple):
        step: int
        reset: int

        def sample(self):
            return 1

        def add(self, other):
            return other

    @typing.runtime_checkable
    class Steps(typing.Protocol):
        def step(self, action): ...

        def reset(self): ...

    class Locked(metaclass=Sealed):
        def step(self, action):
            return 0, 1.0, False, {}

        def reset(self):
            return 0

    class Number(metaclass=Odd):
        def step(self, action): ...

        def reset(self): ...

    class Properties:
        step = property(lambda self: 1)
        reset = property(lambda self: 2)

    class Memory(collections.deque):
        def add(self, row):
            self.append(row)

        def sample(self, size):
            return list(self)[:size]

    print(Number, Moves.step, Moves.reset.sample(), Row(1, 2).add(3), Properties().step)
    for cls in (First, Second, Slots, Concrete, Locked, Data):
        print([cls().step(1) for _ in range(4)], cls.__name__)
    print(inspect.signature(First.step), First.step.__doc__, First.step.__qualname__, inspect.isfunction(First.step))
    print(inspect.getsource(First.step).strip().splitlines()[0], sorted(Abstract.__abstractmethods__))
    try:
        Abstract()
    except TypeError as error:
        print(error)
    print(isinstance(First(), Steps), isinstance(Memory(), Steps))
    data = Data()
    data.step(1)
    print(pickle.loads(pickle.dumps(data)), copy.deepcopy(data), dataclasses.replace(data, count=7))
    print(pickle.loads(pickle.dumps(First)) is First, type(pickle.loads(pickle.dumps(First()))) is First)
    travelled = pickle.loads(cloudpickle.dumps(Second()))
    print([travelled.step(1) for _ in range(4)], type(travelled).__name__)
    memory = Memory()
    memory.add(1)
    print(memory.sample(1), memory.sample(1))
"""

COMPILED = """
    import torch

    class Grid:
        def __init__(self, count):
            self.at = torch.zeros(count, 2)

        def reset(self):
            self.at = torch.zeros_like(self.at)
            return self.at

        def step(self, action):
            at = self.at + action
            return at, at.sum(1), at.sum(1) > 5, torch.zeros(len(at), dtype=torch.bool), {}

    def compute_gae(rewards):
        return rewards.flip(0).cumsum(0)

    grid = Grid(3)
    grid.reset()
    for _ in range(4):
        grid.step(torch.ones(3, 2))
    compute_gae(torch.ones(3))
    print(torch.compile(grid.step, backend="eager", fullgraph=True)(torch.ones(3, 2)))
    print(torch.compile(compute_gae, backend="eager", fullgraph=True)(torch.arange(4.0)))
"""


def test_classes_of_all_kinds_are_what_they_were(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    script = write_program(tmp_path, CLASSES)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    assert recorded.own_lines == [f"rlprof: recorded into {recorded.target.name}"]
    report = recorded.report()
    # Six classes took four steps each: all but the sealed one, and one that came back from its journey. And one more.
    assert report["throughput"]["env_steps"] == 6 * 4 + 1
    assert {entry["name"].partition(":")[2] for entry in report["inferred"]} == {
        "First", "Second", "Slots", "Concrete", "Data", "Memory",
    }  # fmt: skip


@pytest.mark.slow
def test_an_environment_of_the_programs_own_still_compiles_whole(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = write_program(tmp_path, COMPILED)
    bare, recorded = run_bare(script), run_recorded(script)
    assert bare.code == 0, bare.err
    assert recorded.out == bare.out
    assert recorded.report()["throughput"]["env_steps"] == 4 * 3
