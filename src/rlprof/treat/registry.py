"""All treatments there are, and reading one as a person writes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rlprof.model.errors import BadOption
from rlprof.treat import (
    affinity,
    compile_acting,
    fingerprint,
    flush_denormal,
    gc_freeze,
    inference_mode,
    matmul_precision,
    mute_logging,
    named,
    no_validate,
    optimizer,
    start_method,
    threads,
    vecenv,
)
from rlprof.treat.treatment import Kind, Treatment

KINDS: Final[dict[str, Kind]] = {
    kind.id: kind
    for kind in (
        threads.KIND,
        inference_mode.KIND,
        no_validate.KIND,
        gc_freeze.KIND,
        vecenv.SERIAL_KIND,
        vecenv.SUBPROC_KIND,
        start_method.KIND,
        affinity.KIND,
        optimizer.KIND,
        compile_acting.KIND,
        matmul_precision.KIND,
        flush_denormal.KIND,
        mute_logging.KIND,
        named.SKIP_KIND,
        named.REPLACE_KIND,
        fingerprint.KIND,
    )
}
#: Kinds that are written with a colon behind their name, since what follows may hold an equals sign of its own.
_NAMING: Final = ("skip", "replace")


def parse_treatment(text: str) -> Treatment:
    """Read `threads=1`, `no-validate`, `skip:module:Class.method=0`."""
    text = text.strip()
    head, colon, behind = text.partition(":")
    if colon and head in _NAMING:
        kind, argument = KINDS[head], behind
    else:
        name, equals, argument = text.partition("=")
        found = KINDS.get(name)
        if found is None or found.id in _NAMING:
            forms = ", ".join(kind.form for kind in KINDS.values())
            raise BadOption(f"there is no treatment '{text}'; there are: {forms}")
        if equals and not argument:
            raise BadOption(f"the treatment {name} is written {found.form}")
        kind = found
    kind.check(argument)
    return Treatment(text, kind, argument)


def parse_treatments(texts: Iterable[str]) -> list[Treatment]:
    """Read several, each once, in the order in which they are applied."""
    return [parse_treatment(text) for text in dict.fromkeys(text.strip() for text in texts)]
