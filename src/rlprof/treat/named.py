"""Functions of the program that are skipped, or replaced by others."""

from __future__ import annotations

import builtins
import copy
import functools
import importlib
import json
from collections.abc import Callable
from typing import Any, Final

from rlprof import _core
from rlprof.model.errors import BadOption
from rlprof.probes.lookout import Lookout
from rlprof.probes.named_functions import NamedFunctions
from rlprof.record.targets import Target, parse_name
from rlprof.treat.treatment import Kind, Scene

Function = Callable[..., Any]


def parse_skip(argument: str) -> tuple[Target, Any]:
    place, equals, literal = argument.partition("=")
    try:
        return parse_name(place), json.loads(literal) if equals else None
    except (ValueError, RecursionError):
        raise BadOption(f"what skip:{place} is to return is no JSON: write skip:module:Class.method=0") from None


def parse_replace(argument: str) -> tuple[Target, Target]:
    place, equals, other = argument.partition("=")
    if not equals:
        raise BadOption("write replace:module:Class.method=module2:function2")
    return parse_name(place), parse_name(other)


def skip(argument: str, scene: Scene) -> None:
    target, value = parse_skip(argument)
    _treat(target, lambda original: _returning(original, value), scene)


def replace(argument: str, scene: Scene) -> None:
    target, other = parse_replace(argument)
    _treat(target, lambda original: _calling(original, other, scene), scene)


def _treat(target: Target, make: Callable[[Function], Function], scene: Scene) -> None:
    scene.waits(f"nothing in the program is called {target.text}")

    def changed(functions: NamedFunctions) -> None:
        if functions.found:
            scene.applied()
        elif functions.no_function:
            scene.refuse(f"{target.text} is no function or method")

    functions = NamedFunctions([target], lambda _, raw: _like(raw, make), scene.patches, changed)

    def made(_: tuple[Any, ...], cls: Any) -> None:
        try:
            if functions.missing and isinstance(cls, type):
                functions.made(cls)
        except Exception as error:  # a metaclass may answer to anything
            functions.missing.clear()
            scene.refuse(f"classes of the program cannot be looked at: {error!r}")

    if target.module != "__main__":
        scene.when_loaded(target.module, functions.loaded)
    scene.patches.attribute(builtins, "__build_class__", _core.Observed(builtins.__build_class__, made))
    Lookout(lambda _: functions.look()).start(scene.patches)


def _like(raw: Any, make: Callable[[Function], Function]) -> Any:
    if isinstance(raw, (classmethod, staticmethod)):
        return type(raw)(make(raw.__func__))
    return make(raw)


def _returning(original: Function, value: Any) -> Function:
    @functools.wraps(original)
    def skipped(*_: Any, **__: Any) -> Any:
        return copy.deepcopy(value)

    return skipped


def _calling(original: Function, other: Target, scene: Scene) -> Function:
    found: list[Function] = []

    @functools.wraps(original)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        if not found:  # the program's own modules can be imported only once it runs
            found.append(_function(other, original, scene))
        return found[0](*args, **kwargs)

    return replaced


def _function(other: Target, original: Function, scene: Scene) -> Function:
    try:
        value: Any = importlib.import_module(other.module)
        for name in other.name.split("."):
            value = getattr(value, name)
    except Exception as error:
        scene.refuse(f"{other.text} cannot be had: {error!r}")
        return original
    return value  # type: ignore[no-any-return]


def _check_skip(argument: str) -> None:
    parse_skip(argument)


def _check_replace(argument: str) -> None:
    parse_replace(argument)


SKIP_KIND: Final = Kind(
    "skip",
    "skip:module:Class.method[=JSON]",
    "leave a function of the program out: it returns None, or what stands behind =",
    (),
    skip,
    lambda argument: (
        f"# for diagnosis only: what {argument.partition('=')[0]} costs is what a cure of it can gain at most"
    ),
    _check_skip,
    changes_results=True,
    diagnosis_only=True,
)
REPLACE_KIND: Final = Kind(
    "replace",
    "replace:module:Class.method=module2:function2",
    "call another function in place of one of the program's",
    (),
    replace,
    lambda argument: (
        f"# in {argument.partition('=')[0].partition(':')[0]}: let {argument.partition('=')[0].partition(':')[2]} "
        f"do what {argument.partition('=')[2]} does"
    ),
    _check_replace,
    changes_results=True,
)
