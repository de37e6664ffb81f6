"""Trains examples/cartpole_ppo.py and says how long the training itself took, without imports and set-up.

With `--torch-trace FILE` or `--viztracer FILE` the training runs under that tracer, for the comparison in disk.py.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType

from timed_loop import Work, take_turns, timed_loop

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cartpole_ppo.py"


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cartpole_ppo", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def traced_by_torch(file: str) -> Iterator[None]:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        yield
    profiler.export_chrome_trace(file)


@contextmanager
def traced_by_viztracer(file: str) -> Iterator[None]:
    from viztracer import VizTracer

    with VizTracer(output_file=file, tracer_entries=8_000_000, verbose=0):
        yield


def tracer(args: argparse.Namespace) -> AbstractContextManager[None]:
    if args.torch_trace:
        return traced_by_torch(args.torch_trace)
    return traced_by_viztracer(args.viztracer) if args.viztracer else nullcontext()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--rounds", type=int, help="train bare and recorded in turns, so many times")
    parser.add_argument("--no-probes", action="store_true", help="in turns: record annotations alone")
    parser.add_argument("--torch-trace", metavar="FILE")
    parser.add_argument("--viztracer", metavar="FILE")
    args = parser.parse_args()
    example = load_example()
    options = example.parse_options(["--iterations", str(args.iterations), "--print-every", "1000000"])
    # The first call into torch's autograd and Adam imports and initialises for a second or so: that is set-up.
    example.train(example.parse_options(["--iterations", "1", "--steps", "8", "--print-every", "1000000"]))
    if args.rounds:
        short = example.parse_options(["--iterations", "1", "--print-every", "1000000"])
        work = Work(partial(example.train, options), partial(example.train, short))
        take_turns(work, work, args.rounds, probes=not args.no_probes)
        return
    with tracer(args), timed_loop(args.iterations * options.steps * options.envs):
        example.train(options)


if __name__ == "__main__":
    main()
