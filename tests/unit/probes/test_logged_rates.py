"""Rates that a program logs are kept with their line; other scalars, and what is no number, pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rlprof.probes.logged_rates import MOST_TAGS, MOST_VALUES, LoggedRates, noting_scalar, noting_scalars, rates
from rlprof.probes.patching import Patches
from rlprof.record import noted


@pytest.fixture
def patches() -> Iterator[Patches]:
    made = Patches()
    noted.forget()
    yield made
    made.undo()
    noted.forget()


class Writer:
    @noting_scalar
    def add_scalar(self, tag: Any, value: Any, step: int = 0) -> Any:
        return tag, value, step

    @noting_scalars
    def log(self, values: Any, step: int = 0) -> Any:
        return values, step


def written(patches: Patches) -> dict[str, Any]:
    for look in tuple(noted.before_flush):
        look()
    return {fact["tag"]: fact for fact in noted.noted().get("logged_rates", [])}


def test_rates_are_kept_with_their_values_and_the_line_that_logs_them(patches: Patches) -> None:
    rates.watch(patches)
    writer = Writer()
    for value in (100, 200.5):
        assert writer.add_scalar("charts/SPS", value, step=3) == ("charts/SPS", value, 3)
        writer.add_scalar("losses/value", 0.5)
    writer.log({"time/fps": 7, "reward": 3})
    found = written(patches)
    assert set(found) == {"charts/SPS", "time/fps"}
    assert [value for _, value in found["charts/SPS"]["values"]] == [100.0, 200.5]
    assert found["charts/SPS"]["file"] == __file__
    patches.undo()
    assert rates.write not in noted.before_flush


@pytest.mark.parametrize("tag", ["fps", "time/fps", "charts/SPS", "perf/steps_per_second", "env_steps/s", "it/s"])
def test_names_of_rates_are_known(patches: Patches, tag: str) -> None:
    rates.watch(patches)
    Writer().add_scalar(tag, 3)
    assert tag in written(patches)


@pytest.mark.parametrize("tag", ["ups", "sparsity", "corpse", "clips", "steps", "episode/frames", "time/elapsed"])
def test_other_names_are_not(patches: Patches, tag: str) -> None:
    rates.watch(patches)
    Writer().add_scalar(tag, 3)
    assert written(patches) == {}


@pytest.mark.parametrize(("tag", "value"), [("fps", "fast"), ("fps", None), (["fps"], 3), (3, 3), ("fps", [1, 2])])
def test_what_is_no_rate_passes_unharmed(patches: Patches, tag: Any, value: Any) -> None:
    rates.watch(patches)
    assert Writer().add_scalar(tag, value) == (tag, value, 0)
    assert Writer().log(value) == (value, 0)
    assert all(fact["values"] == [] for fact in written(patches).values())


def test_long_courses_and_many_names_are_bounded(patches: Patches) -> None:
    seen = LoggedRates()
    seen.watch(patches)
    for number in range(10 * MOST_VALUES):
        seen.see("fps", number + 1)
    for number in range(2 * MOST_TAGS):
        seen.see(f"fps/{number}", 1)
    found = written(patches)
    assert len(found) == MOST_TAGS
    values = [value for _, value in found["fps"]["values"]]
    assert len(values) <= MOST_VALUES
    assert (values[0], values[-1]) == (1.0, 10.0 * MOST_VALUES)
