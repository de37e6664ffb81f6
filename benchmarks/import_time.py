"""What `import rlprof` costs: fresh interpreters, with and without the import, taking turns.

The figure is the difference of two whole processes, start to exit, so that nothing the import does late is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from time import perf_counter

from measure import (
    CannotMeasure,
    Result,
    Table,
    argument_parser,
    differences,
    finish,
    new_result,
    run_script,
)

from rlprof.experiments.pairs import interleave, spread

IMPORTS = {
    "empty interpreter": "pass",
    "import rlprof": "import rlprof",
    "import numpy": "import numpy",
    "import torch": "import torch",
}
#: Nothing heavy may come in with rlprof: they would be paid by programs that never use them.
HEAVY = ("torch", "numpy", "psutil", "rich", "sqlite3")
MUST_STAY_OUT = ("torch", "numpy")


#: A user's interpreter keeps bytecode, whatever the one that runs this script was told.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds_of(statement: str) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return perf_counter() - start


def loaded_modules() -> list[str]:
    """Which of the heavy modules stand in `sys.modules` after the import."""
    statement = f"import json, sys, rlprof; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotMeasure(f"`import rlprof` fails: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    modules: list[str] = json.loads(done.stdout)
    return modules


def can_import(statement: str) -> bool:
    done = subprocess.run([sys.executable, "-c", statement], stderr=subprocess.DEVNULL, check=False, env=ENVIRONMENT)
    return done.returncode == 0


def fill(result: Result, rounds: int) -> None:
    loaded = loaded_modules()
    # The trial also writes the bytecode caches, which every import but the first one finds.
    statements = {name: statement for name, statement in IMPORTS.items() if can_import(statement)}
    values = interleave({name: lambda s=s: seconds_of(s) for name, s in statements.items()}, rounds)  # type: ignore[misc]
    empty = values.pop("empty interpreter")
    net = {name: spread([1e3 * each for each in differences(these, empty)]) for name, these in values.items()}
    rows = [(name, found.text(1, " ms")) for name, found in net.items()]
    rows.insert(0, ("an empty interpreter, start to exit", spread([1e3 * each for each in empty]).text(1, " ms")))
    result.tables.append(Table(f"Fresh interpreters, {rounds} each", ("statement", "beyond the empty one"), rows))
    result.check_at_most("import rlprof", net["import rlprof"], 50, " ms")
    for module in MUST_STAY_OUT:
        state = "loaded" if module in loaded else "not loaded"
        result.check_true(f"{module} after `import rlprof`", "not loaded", state, module not in loaded)
    result.notes.append(f"Heavy modules that rlprof brings in: {', '.join(loaded) or 'none'}.")
    result.data = {"milliseconds": {name: vars(found) for name, found in net.items()}, "loaded": loaded}


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--rounds", type=int, help="fresh interpreters of each kind (20; quick: 6)")
    args = parser.parse_args()
    result = new_result("Time to import", args)
    fill(result, args.rounds or (6 if args.quick else 20))
    return finish(result, args)


if __name__ == "__main__":
    run_script(main)
