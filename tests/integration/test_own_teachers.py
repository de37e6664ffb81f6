"""Scripted teachers of the program are told from its policy, by their name or by that of their objects."""

from __future__ import annotations

from pathlib import Path

from rlprof.probes.teachers import made_as_teachers
from support.programs import Json, assert_ledgers_close, calls, run_bare, run_recorded, write_program

WALK = """
    import numpy as np

    class Walk:
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def reset(self):
            self.place, self.time = 0.0, 0
            return np.array([self.place])

        def step(self, action):
            self.place += 0.1 * action + 0.01 * self.rng.normal()
            self.time += 1
            return np.array([self.place]), -abs(self.place), self.time >= 10, {}

    def play(choose, steps=40):
        env = Walk()
        seen, total = env.reset(), 0.0
        for _ in range(steps):
            seen, reward, over, _ = env.step(choose(seen))
            total += reward
            if over:
                seen = env.reset()
        print(round(total, 3))
"""
TEACHERS = """
    class Planner:
        def act(self, seen):
            return float(-np.sign(seen[0]))

    class Expert:
        def predict(self, seen):
            return float(-np.sign(seen[0]))

    def scripted_policy(seen):
        return float(-np.sign(seen[0]))

    class Trainer:
        def __init__(self):
            self.teacher, self.expert = Planner(), Expert()

        def choose(self, seen):
            return self.teacher.act(seen) + self.expert.predict(seen) + scripted_policy(seen)

    play(Trainer().choose)
"""
OTHERS = """
    class Rival:
        def act(self, seen):
            return float(-np.sign(seen[0]))

    class Expert:
        def act(self, seen):
            play(lambda seen: 1.0, 3)
            return 0.0

    rival, expert = Rival(), Expert()
    play(rival.act)
    play(lambda seen: rival.act(seen))
    play(lambda seen: expert.act(seen))
    print(Rival.act.__qualname__, Rival.act.__code__.co_filename == __file__)
"""


def recorded(folder: Path, source: str) -> Json:
    program = write_program(folder, WALK + source)
    done = run_recorded(program)
    assert (done.code, run_bare(program).out) == (0, done.out), done.err
    report = done.report()
    assert_ledgers_close(report)
    return report


def teachers(report: Json) -> set[str]:
    return {item["name"].partition(":")[2] for item in report["inferred"] if item["role"] == "teacher"}


def test_a_teacher_is_known_by_its_class_its_name_and_the_name_of_its_object(tmp_path: Path) -> None:
    report = recorded(tmp_path, TEACHERS)
    assert teachers(report) == {"Planner.act", "Expert.predict", "scripted_policy"}
    # Three for each step. Those before the first step that counts are asked while nothing is trained yet.
    assert 3 * 36 <= calls(report, "teacher") <= 3 * 40


def test_who_is_no_teacher_or_plays_itself_is_left_alone(tmp_path: Path) -> None:
    report = recorded(tmp_path, OTHERS)
    assert "Rival.act" not in teachers(report)
    assert calls(report, "teacher") <= 1  # the first call shows that the expert plays


def test_a_teacher_that_the_program_has_marked_is_not_counted_again(tmp_path: Path) -> None:
    marked = TEACHERS.replace(
        "return self.teacher.act(seen) + self.expert.predict(seen) + scripted_policy(seen)",
        "with rlprof.profile('teacher', phase='policy.teacher'):\n                return self.teacher.act(seen)",
    )
    report = recorded(tmp_path, "\n    import rlprof" + marked)
    assert calls(report, "teacher") == 40
    assert teachers(report) == set()


def test_names_that_the_source_gives_to_objects_are_found(tmp_path: Path) -> None:
    source = tmp_path / "train.py"
    source.write_text(
        "teacher = Planner()\nself.expert_bot: Bot = bots.Searcher(3)\ntrain(env, oracle=Solver(\n  1))\n"
        "student = Learner()\nteacher_forcing = True\nexperts == Crowd()\n",
        encoding="utf-8",
    )
    assert made_as_teachers(str(source)) == {"Planner", "Searcher", "Solver"}
    assert made_as_teachers(str(tmp_path / "none.py")) == frozenset()


def test_a_project_may_say_that_a_class_is_no_teacher(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.rlprof]\nnot_teacher = ["__main__:Planner", "__main__:scripted_policy"]\n', encoding="utf-8"
    )
    assert teachers(recorded(tmp_path, TEACHERS)) == {"Expert.predict"}
