"""Patches are found where they belong, keep their form, and leave no trace."""

from __future__ import annotations

import inspect
import pickle
import sys
from types import ModuleType
from typing import Any

import pytest

from rlprof.probes.copies import replace_copies
from rlprof.probes.patching import Patches, undo_all
from rlprof.probes.subclasses import follow_subclasses


class Base:
    def step(self, action: int) -> int:
        """One step."""
        return action + 1


def doubled(original: Any) -> Any:
    def call(self: Any, action: int) -> int:
        return 2 * int(original(self, action))

    return call


@pytest.fixture
def patches() -> Any:
    made = Patches()
    yield made
    made.undo()


def test_a_patched_method_keeps_its_name_signature_and_documentation(patches: Patches) -> None:
    signature = inspect.signature(Base.step)
    assert patches.method(Base, "step", doubled)
    assert Base().step(1) == 4
    assert (Base.step.__name__, Base.step.__doc__, inspect.signature(Base.step)) == ("step", "One step.", signature)


def test_undoing_puts_the_very_same_function_back(patches: Patches) -> None:
    before = vars(Base)["step"]
    patches.method(Base, "step", doubled)
    patches.undo()
    assert vars(Base)["step"] is before


def test_a_method_is_patched_where_it_is_defined_and_once(patches: Patches) -> None:
    class Heir(Base):
        pass

    assert not patches.method(Heir, "step", doubled)
    assert patches.method(Base, "step", doubled)
    assert not patches.method(Base, "step", doubled)
    assert Heir().step(1) == 4


def test_what_somebody_replaced_after_us_is_left_alone(patches: Patches) -> None:
    class Own:
        def step(self) -> int:
            return 1

    patches.method(Own, "step", doubled)
    theirs = Own.step = lambda self: 7  # type: ignore[method-assign,assignment]
    patches.undo()
    assert vars(Own)["step"] is theirs


def test_subclasses_made_later_are_followed_and_forgotten_after_undo(patches: Patches) -> None:
    follow_subclasses(Base, {"step": doubled}, patches)

    class Later(Base):
        def step(self, action: int) -> int:
            return action

    assert Later().step(3) == 6
    patches.undo()
    assert "__init_subclass__" not in vars(Base)

    class Afterwards(Base):
        def step(self, action: int) -> int:
            return action

    assert (Later().step(3), Afterwards().step(3)) == (3, 3)


def test_a_class_that_has_its_own_say_about_subclasses_still_has_it(patches: Patches) -> None:
    class Strict:
        seen: tuple[str, ...] = ()

        def __init_subclass__(cls, tag: str = "", **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            Strict.seen += (f"{cls.__name__}:{tag}",)

    own = vars(Strict)["__init_subclass__"]
    follow_subclasses(Strict, {"step": doubled}, patches)

    class First(Strict, tag="a"):
        pass

    patches.undo()

    class Second(Strict, tag="b"):
        pass

    assert Strict.seen == ("First:a", "Second:b")
    assert vars(Strict)["__init_subclass__"] is own


def test_an_instance_of_a_patched_class_can_be_pickled(patches: Patches) -> None:
    patches.method(Base, "step", doubled)
    assert pickle.loads(pickle.dumps(Base())).step(1) == 4


def test_a_class_can_be_given_an_inherited_method_wrapped_and_its_base_stays_as_it_was(patches: Patches) -> None:
    class Heir(Base):
        pass

    class Grandchild(Heir):
        pass

    assert patches.inherited(Heir, "step", doubled)
    assert not patches.inherited(Heir, "step", doubled)
    assert not patches.method(Heir, "step", doubled)
    assert (Base().step(1), Heir().step(1), Grandchild().step(1)) == (2, 4, 4)
    assert inspect.signature(Heir.step) == inspect.signature(Base.step)
    patches.undo()
    assert "step" not in vars(Heir)
    assert Heir().step(1) == 2


def marked(original: Any) -> Any:
    return lambda what: original(what) + 100


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library whose function is defined in another module of its own, and a program that copies it by name."""
    made = [ModuleType(name) for name in ("library", "library.inner", "program")]
    for module in made:
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def save(what: int) -> int:
        return what

    save.__module__, save.__qualname__ = "library.inner", "save"
    vars(made[0])["save"] = vars(made[1])["save"] = save
    return made


def test_a_patched_function_can_be_pickled_by_its_name(patches: Patches, modules: Any) -> None:
    library, *_ = modules
    patches.function(library, "save", marked)
    assert pickle.loads(pickle.dumps(library.save)) is library.save


def test_a_copy_that_was_made_while_patched_is_put_back_too(patches: Patches, modules: Any) -> None:
    library, inner, program = modules
    patches.function(library, "save", marked)
    program.store = library.save
    assert program.store(1) == 101
    patches.undo()
    assert program.store is library.save is inner.save


def test_a_copy_that_was_made_before_can_be_patched_as_well(patches: Patches, modules: Any) -> None:
    library, inner, program = modules
    program.store = library.save
    patches.function(library, "save", marked)
    assert program.store(1) == 1
    replace_copies(patches.functions)
    assert program.store(1) == 101
    patches.undo()
    assert program.store is library.save is inner.save


def test_two_who_patched_the_same_class_are_undone_in_the_right_order() -> None:
    class Followed:
        pass

    first, second = Patches(), Patches()
    follow_subclasses(Followed, {"step": doubled}, first)
    follow_subclasses(Followed, {"reset": doubled}, second)
    undo_all([first, second])
    assert "__init_subclass__" not in vars(Followed)
