"""Classes are taken for what their use says they are, and left as they were found."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rlprof import _core
from rlprof.probes.install import Probes
from rlprof.record import noted
from rlprof.record.options import Options
from rlprof.record.session import Session, begin, current_session, end


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes classes as a file of the user's would, while this process is recorded."""
    probes = Probes(Options(not_env=("mine:Not",), not_buffer=("mine:NotBuffer",)))
    probes.start()
    begin(Session(None, Options(memory=False, sampler_hz=0)))

    def run(source: str) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "mine"}
        exec(compile(source, str(tmp_path / "mine.py"), "exec"), names)
        return names

    yield run
    end()
    probes.stop()
    noted.forget()


def steps() -> float:
    session = current_session()
    assert session is not None
    return {name: total for name, total, _ in _counters(session)}.get("env_steps", 0.0)


def _counters(session: Session) -> list[tuple[str, float, int]]:
    process = session.snapshot().main
    return [(name, total.amount, total.calls) for name, total in process.counters.items()]


def roles() -> dict[str, str]:
    return {entry["name"].partition(":")[2]: entry["role"] for entry in noted.noted().get("inferred", ())}


CHAIN = """
class Base:
    def reset(self): return 0
    def step(self, action): return 0, 1.0, False, {}
class Heir(Base):
    def step(self, action): return super().step(action)
class Wrapper:
    def __init__(self, inner): self.inner = inner
    def reset(self): return self.inner.reset()
    def step(self, action): return self.inner.step(action)
class Vector:
    def __init__(self): self.envs = [Heir() for _ in range(4)]
    def reset(self): return [env.reset() for env in self.envs]
    def step(self, actions):
        rows = [env.step(1) for env in self.envs]
        return rows, [1.0] * 4, [False] * 4, [False] * 4, {}
"""


def test_overridden_and_nested_steps_count_once_from_the_first_call_on(make: Callable[..., Any]) -> None:
    made = make(CHAIN)
    wrapped = made["Wrapper"](made["Heir"]())
    for taken in range(5):
        wrapped.step(1)
        assert steps() == (taken + 1 if taken else 0)  # the second call makes up for the first
    assert roles() == {"Heir": "env", "Wrapper": "env"}
    vector = made["Vector"]()
    for _ in range(5):
        vector.step([1] * 4)
    assert steps() == 5 + 5 * 4


def test_a_method_and_the_one_it_overrides_are_one_call_of_the_two_it_takes(make: Callable[..., Any]) -> None:
    heir = make(CHAIN)["Heir"]()
    heir.step(1)
    assert roles() == {}
    heir.step(1)
    assert roles() == {"Heir": "env"}


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("def step(self): pass", "it.step()"),
        ("def step(self, loss): return None", "it.step(0.1)"),
        ("def step(self, loss): return 0.1", "it.step(0.1)"),
        ("def step(self, grads): return {'lr': 0.1}", "it.step([1])"),
        ("def step(self, batch): return 0.1, 0.2", "it.step([1])"),
        ("async def step(self, action): return 0, 1.0, False, {}", "it.step(1).close()"),
        ("def step(self, action): yield 0", "it.step(1)"),
    ],
)
def test_other_things_with_step_and_reset_are_not_environments_and_end_up_unwrapped(
    make: Callable[..., Any], step: str, call: str
) -> None:
    made = make(f"class It:\n    def reset(self): pass\n    {step}\nit = It()\n")
    for _ in range(5):
        exec(call, made)
    assert roles() == {}
    assert steps() == 0
    assert not hasattr(vars(made["It"])["step"], "__wrapped__")


def test_a_step_that_only_observes_is_one_where_reset_gave_the_like(make: Callable[..., Any]) -> None:
    made = make(
        "class It:\n    def reset(self): return {'x': 0}\n    def step(self, action): return {'x': 1}\nit = It()\n"
    )
    made["it"].reset()
    for _ in range(4):
        made["it"].step(1)
    assert roles() == {"It": "env"}
    assert steps() == 4


def test_a_policy_that_is_asked_and_stored_is_no_buffer(make: Callable[..., Any]) -> None:
    shaped = "class Seen:\n    shape = (4,)\n"
    made = make(
        f"{shaped}class It:\n    def store(self, path): pass\n    def sample(self, seen): return 1\n"
        "it = It()\nit.store('x')\nfor _ in range(5): it.sample(Seen())\n"
    )
    assert roles() == {}
    assert not hasattr(vars(made["It"])["sample"], "__wrapped__")


def test_batches_of_a_buffer_that_yields_them_are_timed_one_by_one(make: Callable[..., Any]) -> None:
    made = make(
        "class It:\n    def add(self, row): pass\n    def sample(self, size):\n        yield 1\n        yield 2\n"
        "it = It()\nit.add(1)\n"
    )
    assert [list(made["it"].sample(2)) for _ in range(2)] == [[1, 2], [1, 2]]
    assert roles() == {"It": "buffer"}


def test_corrections_hold_for_a_class_and_those_derived_from_it(make: Callable[..., Any]) -> None:
    made = make(
        "class Not:\n    def reset(self): return 0\n    def step(self, action): return 0, 1.0, False, {}\n"
        "class Either(Not):\n    def step(self, action): return super().step(action)\n"
        "class NotBuffer:\n    def add(self, row): pass\n    def sample(self): return 1\n"
    )
    for name in ("Not", "Either"):
        assert not hasattr(vars(made[name])["step"], "__wrapped__")
    assert not hasattr(vars(made["NotBuffer"])["sample"], "__wrapped__")


def test_what_a_library_of_another_probe_covers_is_left_to_it(make: Callable[..., Any]) -> None:
    pytest.importorskip("gymnasium")
    made = make(
        "import gymnasium\nclass It(gymnasium.Env):\n    def reset(self, **_): return 0, {}\n"
        "    def step(self, action): return 0, 1.0, False, False, {}\n"
        "    def add(self, row): pass\n    def sample(self): return 1\nit = It()\n"
    )
    for _ in range(4):
        made["it"].step(1)
        made["it"].add(1)
        made["it"].sample()
    assert roles() == {}
    assert steps() == 4


def test_everything_is_put_back(tmp_path: Path) -> None:
    before = builtins.__build_class__
    probes = Probes()
    probes.start()
    assert builtins.__build_class__ is not before
    names: dict[str, Any] = {"__name__": "mine"}
    exec(compile(CHAIN + "def compute_gae(): pass\n", str(tmp_path / "mine.py"), "exec"), names)
    wrapped = vars(names["Base"])["step"]
    assert hasattr(wrapped, "__wrapped__")
    probes.stop()
    assert builtins.__build_class__ is before
    for name in ("Base", "Heir", "Vector"):
        assert not hasattr(vars(names[name])["step"], "__wrapped__")
    assert not _core.is_on()
    assert wrapped(names["Base"](), 1) == (0, 1.0, False, {})
