"""The shape of the package: who may import whom, who may print, and how large a file may grow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "rlprof"

#: What each part may import of rlprof: `model <- record, recording, analyse <- advise <- experiments <- render <- cli`.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "_version": frozenset(),
    "_core": frozenset(),
    "model": frozenset(),
    "recording": frozenset({"model", "_version"}),
    "record": frozenset({"model", "recording", "_core", "_version"}),
    "probes": frozenset({"model", "record", "_core", "_version"}),
    "treat": frozenset({"model", "record", "probes", "_core"}),
    "analyse": frozenset({"model"}),
    "advise": frozenset({"model", "analyse"}),
    "experiments": frozenset({"model", "recording", "analyse", "advise", "_version"}),
    "render": frozenset({"model", "analyse", "advise", "experiments", "_version"}),
    "cli": frozenset(
        {"model", "recording", "record", "probes", "analyse", "advise", "experiments", "render", "demos", "_version"}
        | {"__init__", "profiler", "treat"}
    ),
    "demos": frozenset(),
    "__init__": frozenset({"model", "recording", "record", "_core", "_version", "profiler"}),
    "profiler": frozenset({"model", "recording", "record", "_core", "_version"}),
    "__main__": frozenset({"cli"}),
    "pytest_plugin": frozenset(),
    "integrations": frozenset({"record", "probes", "_core", "__init__", "profiler"}),
}
#: The demo that shows annotations; the others are programs without rlprof.
ANNOTATED_DEMOS = ("demos/robots",)
#: What the public face may import besides, but only when it is called: `import rlprof` must stay quick.
LAZILY: dict[str, frozenset[str]] = {
    "__init__": frozenset({"analyse", "advise", "render"}),
    "probes": frozenset({"treat"}),  # in the process's bootstrap, where there are treatments to apply
    "profiler": frozenset({"analyse", "advise", "render", "probes"}),
    "pytest_plugin": frozenset({"recording", "experiments", "render", "profiler"}),
}
PUBLIC = {
    "alternate",
    "profile",
    "profile_function",
    "get_profiler",
    "count",
    "iteration",
    "open_report",
    "__version__",
}
MAY_PRINT = {"cli", "demos"}
#: The one place inside the user's process that says, once and on stderr, that something of ours failed.
COMPLAINS = {"record/complain.py"}
PRINTS_OR_EXITS = {"print", "pprint", "exit", "quit", "sys.exit", "sys.stdout.write", "sys.stderr.write"}
PRINTS_OR_EXITS |= {"click.echo", "click.secho"}
#: Extras: never imported when rlprof is, and torch only where the user's program has imported it already.
EXTRAS = {"torch", "torchrl", "tensordict", "gymnasium", "gym", "stable_baselines3", "pynvml", "jax", "tensorflow"}
EXTRAS |= {"envpool", "pettingzoo", "ray", "skrl", "tianshou"}
#: Imported only by a program that names the library, so these may import it with the module.
ASKED_FOR = {"demos", "integrations"}
#: What `import rlprof` must not bring along.
LATE = ("analyse", "advise", "experiments", "render", "cli", "probes", "treat", "demos", "integrations")
VAGUE_NAMES = {"utils", "util", "common", "helpers", "misc"}
MOST_LINES = 500


@dataclass(frozen=True)
class Import:
    """One imported module, absolute, and the functions it happens in (outermost first)."""

    module: str
    line: int
    functions: tuple[ast.AST, ...]
    only_for_types: bool


class ImportFinder(ast.NodeVisitor):
    """Collects every import of a file: statements at any depth, and import_module or __import__ of a literal name."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.found: list[Import] = []
        self._functions: list[ast.AST] = []
        self._only_for_types = False

    def _add(self, module: str, node: ast.stmt | ast.expr) -> None:
        self.found.append(Import(module, node.lineno, tuple(self._functions), self._only_for_types))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self.package.split(".")[: len(self.package.split(".")) - node.level + 1]
            base = ".".join([*above, base] if base else above)
        for alias in node.names:
            self._add(f"{base}.{alias.name}", node)

    def visit_Call(self, node: ast.Call) -> None:
        named = ast.unparse(node.func) in {"importlib.import_module", "import_module", "__import__"}
        if named and node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            self._add(node.args[0].value, node)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        outside = self._only_for_types
        self._only_for_types = outside or ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for statement in node.body:
            self.visit(statement)
        self._only_for_types = outside
        for statement in [node.test, *node.orelse]:
            self.visit(statement)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        self._functions.append(node)
        self.generic_visit(node)
        self._functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _visit_function  # noqa: N815


def part_of(relative: Path) -> str:
    """The part of rlprof that a file belongs to: its top-level package, or its own name."""
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported_part(module: str) -> str | None:
    """The part of rlprof that an import reaches, or None where it is not ours."""
    names = module.split(".")
    if names[0] != "rlprof":
        return None
    return names[1] if len(names) > 1 and names[1] in MAY_IMPORT else "__init__"


def direction_faults(relative: Path, imports: Iterable[Import]) -> Iterator[str]:
    part = part_of(relative)
    annotated = relative.as_posix().startswith(ANNOTATED_DEMOS)
    for found in imports:
        target = imported_part(found.module)
        if target is None or target == part:
            continue
        allowed = MAY_IMPORT[part] | ({"__init__"} if annotated else set())
        if found.functions or found.only_for_types:
            allowed |= LAZILY.get(part, frozenset())
        if target not in allowed:
            yield f"{found.line}: {part} may not import {target} ({found.module})"


def _looks_before_it_imports(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules" for node in ast.walk(function))


def extra_faults(part: str, imports: Iterable[Import]) -> Iterator[str]:
    for found in imports:
        top = found.module.split(".")[0]
        if part in ASKED_FOR or top not in EXTRAS or found.only_for_types:
            continue
        if not found.functions:
            yield f"{found.line}: {top} is imported with the module"
        elif top == "torch" and not any(map(_looks_before_it_imports, found.functions)):
            yield f"{found.line}: torch is imported in a function that does not look into sys.modules first"


def output_faults(relative: Path, tree: ast.AST) -> Iterator[str]:
    if part_of(relative) in MAY_PRINT:
        return
    forbidden = PRINTS_OR_EXITS - ({"sys.stderr.write"} if relative.as_posix() in COMPLAINS else set())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in forbidden:
            yield f"{node.lineno}: {ast.unparse(node.func)}() belongs in cli"
        elif isinstance(node, ast.Raise) and node.exc and ast.unparse(node.exc).startswith("SystemExit"):
            yield f"{node.lineno}: raise SystemExit belongs in cli"
        elif isinstance(node, ast.ImportFrom) and node.module == "sys":
            yield from (f"{node.lineno}: sys.exit belongs in cli" for alias in node.names if alias.name == "exit")


def shape_faults(relative: Path, text: str) -> Iterator[str]:
    names = {*relative.parts[:-1], relative.stem}
    yield from (f"1: {name} says nothing about what is in it" for name in names & VAGUE_NAMES)
    if (lines := text.count("\n")) >= MOST_LINES:
        yield f"{lines}: {lines} lines; a file stays under {MOST_LINES}"


def faults_of_python(root: Path, path: Path) -> Iterator[str]:
    relative = path.relative_to(root)
    part = part_of(relative)
    text = path.read_text(encoding="utf-8")
    yield from shape_faults(relative, text)
    if part not in MAY_IMPORT:
        yield f"1: {part} is no part of the design; give it a place in MAY_IMPORT"
        return
    tree = ast.parse(text, str(path))
    finder = ImportFinder(".".join(["rlprof", *relative.parts[:-1]]))
    finder.visit(tree)
    yield from direction_faults(relative, finder.found)
    yield from extra_faults(part, finder.found)
    yield from output_faults(relative, tree)


def faults_of_cython(path: Path) -> Iterator[str]:
    """The compiled core stands alone. (Its syntax is not Python's, so lines are looked at.)"""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if re.match(r"\s*(from|import|cimport)\s+(rlprof|\.)", line):
            yield f"{number}: the core may not import rlprof"


def faults(root: Path) -> list[str]:
    """Everything under `root`, a package directory laid out as src/rlprof is, that breaks a rule of the house."""
    python = ((path, fault) for path in root.rglob("*.py") for fault in faults_of_python(root, path))
    cython = ((path, fault) for path in root.rglob("*.pyx") for fault in faults_of_cython(path))
    return sorted(f"{path.relative_to(root).as_posix()}:{fault}" for path, fault in (*python, *cython))


def test_the_package_keeps_to_its_directions() -> None:
    assert len(list(SOURCE.rglob("*.py"))) > 5
    assert faults(SOURCE) == []


def test_there_is_one_compiled_file() -> None:
    assert [path.name for path in SOURCE.rglob("*.pyx")] == ["_core.pyx"]


def test_the_public_surface_is_what_it_says() -> None:
    import rlprof

    assert set(rlprof.__all__) == PUBLIC
    assert len(rlprof.__all__) == len(PUBLIC)
    assert all(hasattr(rlprof, name) for name in PUBLIC)


def test_importing_rlprof_loads_only_what_recording_needs_and_starts_nothing() -> None:
    program = "import sys, threading, rlprof; print(*sys.modules); assert threading.active_count() == 1"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    late = {f"rlprof.{part}" for part in LATE}
    assert loaded & (late | EXTRAS | {"rich", "click"}) == set()


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model/a.py", "import rlprof.record"),
        ("model/a.py", "from rlprof._version import __version__"),
        ("model/deep/a.py", "def f():\n    from ...recording import schema"),
        ("recording/a.py", "from rlprof import record"),
        ("recording/a.py", "import rlprof"),
        ("analyse/a.py", "from rlprof.recording.reader import read"),
        ("analyse/a.py", "import importlib\nimportlib.import_module('rlprof.advise.rules')"),
        ("advise/a.py", "from rlprof.experiments import compare"),
        ("render/a.py", "def draw():\n    import rlprof.record.profiler"),
        ("render/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from rlprof import record"),
        ("render/a.py", "from rlprof import _core"),
        ("probes/a.py", "from ..cli import main"),
        ("cli/a.py", "from rlprof._core import enter"),
        ("demos/a.py", "from rlprof import profile"),
        ("demos/robots.py", "from rlprof.record import session"),
        ("__init__.py", "from .render import terminal"),
        ("profiler.py", "def f():\n    from .cli import main"),
        ("_core.pyx", "from rlprof.model import phases"),
        ("record/a.py", "import torch"),
        ("record/a.py", "try:\n    import torch.cuda\nexcept ImportError:\n    pass"),
        ("record/a.py", "def f():\n    import torch\n    return torch"),
        ("probes/a.py", "class Probe:\n    from stable_baselines3 import PPO"),
        ("record/a.py", "print('hello')"),
        ("analyse/a.py", "import sys\ndef f():\n    sys.exit(1)"),
        ("analyse/a.py", "from sys import exit"),
        ("render/a.py", "import sys\nsys.stdout.write('x')"),
        ("profiler.py", "raise SystemExit(2)"),
        ("record/utils.py", ""),
        ("analyse/common/a.py", ""),
        ("elsewhere/a.py", ""),
        ("analyse/a.py", "x = 1\n" * MOST_LINES),
    ],
)
def test_the_checker_catches(tmp_path: Path, name: str, text: str) -> None:
    (fault,) = faults(write(tmp_path, {name: text}))
    assert fault.startswith(f"{name}:")


def test_the_checker_lets_pass_what_the_design_allows(tmp_path: Path) -> None:
    allowed = {
        "__init__.py": "from .profiler import profile\nfrom ._version import __version__\nfrom .record import on",
        "profiler.py": "from ._core import enter\ndef report():\n    from .render import terminal\n    return terminal",
        "__main__.py": "from rlprof.cli.main import main",
        "model/a.py": "from .b import c\nfrom rlprof.model.b import c",
        "record/a.py": "import sys\nfrom .. import _core\nfrom ..recording import writer\n"
        "def device():\n    if 'torch' in sys.modules:\n        import torch\n        return torch",
        "record/complain.py": "import sys\nsys.stderr.write('x')",
        "record/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
        "probes/a.py": "from rlprof.record import on\ndef patch():\n    from gymnasium import Env\n    return Env",
        "render/a.py": "from rlprof.advise import rules\nfrom rlprof.model import report\nimport rich",
        "cli/a.py": "import sys, rlprof\nfrom rlprof.demos import ppo\nprint(rlprof)\nsys.exit(1)",
        "demos/ppo.py": "import torch\nprint(torch)",
        "demos/robots.py": "from rlprof import profile",
        "_core.pyx": "from cpython.ref cimport PyObject",
    }
    assert faults(write(tmp_path, allowed)) == []
