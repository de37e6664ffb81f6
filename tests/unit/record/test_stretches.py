"""Which moments of vector steps a process notes, and what it adds up of all of them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from rlprof import _core
from rlprof.model.noted_slots import ALL_SLOTS, SLOT_BITS
from rlprof.model.stretch_kinds import SENT, SIMULATED, WAITED
from rlprof.probes.vector_steps import answering, sending, waiting
from rlprof.record import stretches as module
from rlprof.record.stretches import Stretches, stretches

SLOT = 1 << SLOT_BITS
MS = 1_000_000
START = 50 * SLOT


class Clock:
    def __init__(self) -> None:
        self.set(START)

    def set(self, at: int) -> None:
        self.at = at
        _core.set_fake_clock(at)

    def pass_by(self, nanoseconds: int) -> None:
        self.set(self.at + nanoseconds)


@pytest.fixture
def clock() -> Iterator[Clock]:
    stretches.begin("main")
    yield Clock()
    _core.set_fake_clock(None)
    stretches.begin("main")


class Worker:
    def __init__(self, pid: int) -> None:
        self.pid = pid


class Vector:
    """A vector environment whose sending takes 1 ms and whose waiting takes 5."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.processes = [Worker(11), Worker(12)]

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for, which may ask the workers")

    @sending
    def step_async(self) -> None:
        self.clock.pass_by(MS)

    @waiting
    def step_wait(self) -> None:
        self.clock.pass_by(5 * MS)

    def step(self) -> None:
        self.step_async()
        self.clock.pass_by(3 * MS)  # the core was given to another process
        self.step_wait()

    @sending
    def step_all(self) -> None:
        self.clock.pass_by(MS)
        self.step_wait()


class Wrapped:
    """As Stable-Baselines3's wrappers: `step` is the one that all vector environments inherit."""

    step = Vector.step

    def __init__(self, inside: Vector) -> None:
        self.inside, self.clock = inside, inside.clock

    def step_async(self) -> None:
        self.inside.step_async()

    def step_wait(self) -> None:
        self.inside.step_wait()


def test_a_step_is_noted_with_its_moments_and_added_up(clock: Clock) -> None:
    env = Vector(clock)
    env.step_async()
    env.step_wait()
    assert stretches.drain() == [(SENT, 0, START, MS), (WAITED, 0, START + MS, 5 * MS)]
    assert stretches.drain() == []
    (fact,) = stretches.facts()["vector_envs"]
    assert fact == {
        "name": "Vector",
        "pids": [11, 12],
        "steps": 1,
        "total_ns": 6 * MS,
        "observation_bytes": None,
        "shared_memory": None,
    }


def test_a_core_that_is_lost_between_sending_and_waiting_is_a_part_of_the_environments_own_step(clock: Clock) -> None:
    Vector(clock).step()
    assert stretches.drain() == [(SENT, 0, START, MS), (WAITED, 0, START + MS, 8 * MS)]
    assert stretches.facts()["vector_envs"][0]["total_ns"] == 9 * MS


def test_so_it_is_where_a_wrapper_passes_sending_and_waiting_on_one_by_one(clock: Clock) -> None:
    Wrapped(Vector(clock)).step()
    assert stretches.drain() == [(SENT, 0, START, MS), (WAITED, 0, START + MS, 8 * MS)]
    assert stretches.facts()["vector_envs"][0]["total_ns"] == 9 * MS


def test_what_the_program_does_between_sending_and_waiting_is_not(clock: Clock) -> None:
    env = Vector(clock)
    env.step_async()
    clock.pass_by(3 * MS)
    env.step_wait()
    assert stretches.drain() == [(SENT, 0, START, MS), (WAITED, 0, START + 4 * MS, 5 * MS)]
    assert stretches.facts()["vector_envs"][0]["total_ns"] == 6 * MS


def test_a_call_that_sends_and_waits_is_added_up_once(clock: Clock) -> None:
    Vector(clock).step_all()
    assert sorted(stretches.drain()) == [(SENT, 0, START, 6 * MS), (WAITED, 0, START + MS, 5 * MS)]
    assert stretches.facts()["vector_envs"][0]["total_ns"] == 6 * MS


def test_waiting_for_something_else_than_a_step_is_not_a_part_of_one(clock: Clock) -> None:
    env = Vector(clock)
    env.step_wait()
    env.step_async()
    env.step_wait()
    env.step_wait()
    assert len(stretches.drain()) == 2
    assert stretches.facts()["vector_envs"][0]["total_ns"] == 6 * MS


def test_several_vector_environments_are_told_apart_also_when_one_takes_anothers_place(clock: Clock) -> None:
    first = Vector(clock)
    first.step_async()
    del first
    for env in [Vector(clock) for _ in range(3)]:  # one of them may get the id of the first
        env.step_async()
        env.step_wait()
    assert [env["steps"] for env in stretches.facts()["vector_envs"]] == [1, 1, 1, 1]
    assert {row[1] for row in stretches.drain()} == {0, 1, 2, 3}


def test_beyond_a_number_of_vector_environments_none_is_noted_and_all_work(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_VECTOR_ENVS", 1)
    envs = [Vector(clock), Vector(clock)]
    for env in envs:
        env.step_async()
        env.step_wait()
    assert len(stretches.facts()["vector_envs"]) == 1
    assert clock.at == START + 12 * MS


def test_rows_that_nobody_takes_are_bounded_and_counted(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    env = Vector(clock)
    for _ in range(5):
        env.step_all()
    assert len(stretches.drain()) == 3
    assert stretches.dropped == 7


def simulate(own: Stretches, clock: Clock) -> None:
    begin = own.simulating()
    clock.pass_by(MS)
    own.simulated(begin)


def test_late_in_a_run_parent_and_worker_note_the_same_few_steps(clock: Clock) -> None:
    """A worker comes to each action up to a slot later than it was sent."""
    parent, worker = Stretches(), Stretches()
    env = parent.get_to_know(Vector(clock), (11,))
    assert env is not None
    rounds = 40 * ALL_SLOTS
    for index in range(rounds):
        clock.set(START + index * SLOT + SLOT // 2)
        begin = parent.sending(env)
        noted = env.noting
        parent.sent(env, begin, noted)
        clock.pass_by(index % 7 * SLOT // 7)
        simulate(worker, clock)
        parent.waited(env, clock.at, False)
    steps = [row[2] for row in parent.drain() if row[0] == SENT]
    seen = [row[2] for row in worker.drain()]
    assert ALL_SLOTS < len(steps) < rounds / 6
    assert env.steps == rounds
    for at in steps:
        assert any(at <= begin < at + SLOT for begin in seen)


def test_a_worker_adds_up_all_its_steps_and_says_how_long_it_had_no_core(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = iter([700, 1000])
    monkeypatch.setattr(module, "core_wait_ns", lambda: next(waits))
    worker = Stretches()
    assert worker.facts() == {}
    simulate(worker, clock)
    clock.set(START + 1000 * ALL_SLOTS * SLOT)
    for _ in range(9):
        clock.pass_by(SLOT)
        simulate(worker, clock)
    assert worker.facts()["vector_worker"] == {
        "steps": 10,
        "total_ns": 10 * MS,
        "first_ns": START,
        "last_ns": clock.at,
        "core_wait_ns": 300,
    }
    assert len(worker.drain()) < 10


def test_where_the_kernel_does_not_say_it_is_absent(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "core_wait_ns", lambda: None)
    worker = Stretches()
    simulate(worker, clock)
    assert worker.facts()["vector_worker"]["core_wait_ns"] is None


class Pipe:
    """A worker's end: gives out orders, keeps answers."""

    def __init__(self, orders: list[Any]) -> None:
        self.orders = orders
        self.answers: list[Any] = []
        self.closed = False

    def recv(self) -> Any:
        return self.orders.pop(0)

    def send(self, answer: Any) -> None:
        self.answers.append(answer)

    def close(self) -> None:
        self.closed = True


def test_between_the_order_to_step_and_the_answer_the_environment_is_busy(clock: Clock) -> None:
    @answering(1)
    def work(number: int, pipe: Any) -> None:
        while (order := pipe.recv()) != ("close", None):
            clock.pass_by(MS)
            pipe.send(order)
            clock.pass_by(MS)
        pipe.close()

    orders: list[Any] = [("reset", None), ("step", 3), "step", (), ("step", 4), ("close", None)]
    pipe = Pipe(list(orders))
    work(7, pipe)
    assert pipe.answers == orders[:-1]
    assert pipe.closed
    rows = stretches.drain()
    assert rows == [(SIMULATED, 0, START + 2 * MS, MS), (SIMULATED, 0, START + 8 * MS, MS)]


def test_a_copy_in_another_process_is_the_one_of_that_process() -> None:
    assert pickle.loads(pickle.dumps(stretches)) is stretches
