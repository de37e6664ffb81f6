"""Which loops a source has, and which of them go backwards."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections import Counter
from pathlib import Path

import pytest

from rlprof.record.source_calls import array_calls_of, episodes_of, no_grads_of, old_tensors_of
from rlprof.record.source_facts import MOST_FILES, facts_of_files
from rlprof.record.source_loops import comprehensions_of, item_loops_of, loops_of, pauses_of

SOURCE = textwrap.dedent(
    """
    for step in range(10):
        act()
        for env in range(4):
            running = 0.0
            for t in reversed(range(8)):
                running = rewards[t, env] + running
        while waiting():
            pass
    """
).lstrip()


def test_every_loop_has_its_lines_and_its_direction() -> None:
    assert sorted(loops_of(SOURCE)) == [(1, 8, False), (3, 6, False), (5, 6, True), (7, 8, False)]


@pytest.mark.parametrize(
    "iterated",
    ["reversed(rewards)", "range(len(x) - 1, -1, -1)", "rewards[::-1]", "zip(rewards[::-1], ends)",
     "enumerate(reversed(rewards))"],
)  # fmt: skip
def test_ways_to_go_backwards(iterated: str) -> None:
    assert list(loops_of(f"for r in {iterated}:\n    pass")) == [(1, 2, True)]


@pytest.mark.parametrize("iterated", ["range(3)", "range(0, 9, 3)", "rewards[1:]", "sorted(x)", "zip(a, b)"])
def test_ways_to_go_on(iterated: str) -> None:
    assert list(loops_of(f"for r in {iterated}:\n    pass")) == [(1, 2, False)]


@pytest.mark.parametrize(
    ("iterated", "items"),
    [
        ("range(64)", True),
        ("enumerate(indices)", True),
        ("random.sample(self.memory, 64)", True),
        ("zip(self.rng.integers(0, n, 64), draws)", True),
        ("self.batch_indices", True),
        ("self.fields", False),
        ("batch.items()", False),
        ("('obs', 'action')", False),
        ("enumerate(self.arrays)", False),
    ],
)
def test_loops_over_items_are_told_from_those_over_fields(iterated: str, items: bool) -> None:
    assert list(item_loops_of(f"for x in {iterated}:\n    pass")) == ([(1, 2)] if items else [])


def test_a_while_loop_may_be_about_anything() -> None:
    assert list(item_loops_of("while node < size:\n    node *= 2")) == []


@pytest.mark.parametrize("source", ["", "for x in", "x = '\0'", "(" * 5000])
def test_what_is_no_source_has_no_loops(source: str) -> None:
    assert list(loops_of(source)) == []


def test_what_the_compiler_warns_of_is_not_said_again_at_the_end_of_a_run() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert list(loops_of("x = '\\d'")) == []
    assert said == []


def test_files_that_are_gone_or_were_changed_meanwhile_are_left_out(tmp_path: Path) -> None:
    kept, changed = tmp_path / "kept.py", tmp_path / "changed.py"
    for file in (kept, changed):
        file.write_text(SOURCE)
    os.utime(kept, (100.0, 100.0))
    os.utime(changed, (300.0, 300.0))
    seen = Counter({str(kept): 3, str(changed): 5, str(tmp_path / "gone.py"): 9, "<string>": 2})
    assert list(facts_of_files(seen, 200.0)["loops"]) == [str(kept)]


def test_only_the_files_with_most_samples_are_read(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for number in range(MOST_FILES + 5):
        file = tmp_path / f"{number}.py"
        file.write_text(SOURCE)
        os.utime(file, (100.0, 100.0))
        seen[str(file)] = number
    found = facts_of_files(seen, 200.0)["loops"]
    assert len(found) == MOST_FILES
    assert str(tmp_path / "0.py") not in found


@pytest.mark.parametrize(
    ("statement", "is_one"),
    [
        ("x = [f(y) for y in z]", True),
        ("x = sum(f(y) for y in z)", True),
        ("x = list(map(f, z))", True),
        ("x = np.apply_along_axis(f, 0, z)", True),
        ("x = f(z)", False),
        ("for y in z: f(y)", False),
    ],
)
def test_loops_in_one_expression(statement: str, is_one: bool) -> None:
    assert list(comprehensions_of(statement)) == ([(1, 1)] if is_one else [])


@pytest.mark.parametrize(
    ("statement", "is_one"),
    [
        ("time.sleep(0.01)", True),
        ("sleep(1)", True),
        ("self.clock.tick(30)", True),
        ("asleep(1)", False),
        ("x = 1", False),
    ],
)
def test_statements_that_wait(statement: str, is_one: bool) -> None:
    assert list(pauses_of(statement)) == ([(1, 1)] if is_one else [])


@pytest.mark.parametrize(
    ("statement", "is_one"),
    [
        ("import numpy as np\nx = np.tanh(y)", True),
        ("import torch.nn.functional as F\nx = F.relu(y)", True),
        ("from scipy.ndimage import zoom\nx = zoom(y, 2)", True),
        ("import torch\nx = torch.special.expit(y)", True),
        ("import math\nx = y @ z", True),
        ("import math\nx = math.tanh(y)", False),
        ("x = np.tanh(y)", False),
        ("import numpy as np\nx = y.sum()", False),
    ],
)
def test_calls_of_array_libraries_are_known_by_what_was_imported(statement: str, is_one: bool) -> None:
    assert list(array_calls_of(statement)) == ([(2, 2)] if is_one else [])


@pytest.mark.parametrize(
    ("statement", "is_one"),
    [
        ("x = torch.FloatTensor(rows)", True),
        ("x = LongTensor([m[1] for m in batch])", True),
        ("x = torch.FloatTensor(64, 3)", False),
        ("x = torch.FloatTensor(64)", False),
        ("x = torch.FloatTensor(np.array(rows))", False),
        ("x = torch.FloatTensor(states[rows])", False),
        ("x = torch.FloatTensor(list(rows))", True),
        ("x = torch.tensor(rows)", False),
    ],
)
def test_tensors_that_old_types_make_of_lists(statement: str, is_one: bool) -> None:
    assert list(old_tensors_of(statement)) == ([(1, 1)] if is_one else [])


def test_functions_that_begin_episodes_and_play_on() -> None:
    source = "def play(env):\n    env.reset()\n    env.step(0)\n\ndef act(env):\n    env.step(0)\n"
    assert list(episodes_of(source)) == [(1, 3)]


def test_where_torch_keeps_no_gradients() -> None:
    assert list(no_grads_of("with torch.no_grad():\n    x = f(y)\n")) == [(1, 2)]
    assert list(no_grads_of("@torch.inference_mode()\ndef f():\n    pass\n")) == [(2, 3)]
    assert list(no_grads_of("with open(x) as y:\n    pass\n")) == []
