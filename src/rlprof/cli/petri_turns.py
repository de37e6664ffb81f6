"""petri with both engines in turns, batch by batch in one run: what `rlprof demo petri --compare` records."""

from __future__ import annotations

from rlprof import alternate
from rlprof.demos.petri import parse, train
from rlprof.demos.petri_env import PetriEnv

#: Batches in which both engines do everything for the first time, and the one behind the last that ends it.
NOT_COMPARED = 4 + 1


def choose_engine(_: int, env: PetriEnv) -> None:
    env.use_engine(alternate("turbo", [False, True]))


def main() -> None:
    options = parse()
    options.batches = 2 * options.batches + NOT_COMPARED
    train(options, choose_engine)


if __name__ == "__main__":
    main()
