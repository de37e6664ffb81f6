"""Quick wins in words: the same on a terminal and in a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from rlprof.model.quickwins import Cure, QuickWins, Results, Together, TriedCure
from rlprof.model.units import ABSENT, format_duration, format_percent, format_rate
from rlprof.render.comparison_words import WORDS, interval, ratio

#: How the table marks a cure; what the marks mean stands below it.
SIGNS = {"": "", "may change results": "(!)", "for diagnosis only": "(?)"}
RESULTS = {"same": "same", "different": "other", "unchecked": "not checked"}


def headline(found: QuickWins) -> str:
    """The answer in a sentence."""
    together, won = found.together, found.winners
    if together is not None and together.gain is not None and together.gain.verdict == "faster":
        likely = interval(together.gain.low, together.gain.high)
        return f"{len(together.cures)} cures together make it {ratio(together.gain.ratio)} as fast ({likely})"
    if won and won[0].gain is not None:
        best = won[0]
        assert best.gain is not None
        likely = interval(best.gain.low, best.gain.high)
        return f"{best.cure.name} makes it {ratio(best.gain.ratio)} as fast ({likely})"
    judged = [tried for tried in found.cures if tried.gain is not None]
    if not judged and any(tried.state == "not-run" for tried in found.cures):
        return "Nothing is measured yet"
    if not judged:
        return "No cure has anything to do in this program"
    if any(tried.gain is not None and tried.gain.verdict == "cannot-tell" for tried in judged):
        return "No gain is proven"
    return f"No cure gains {format_percent(found.margin)} or more"


def circumstances(found: QuickWins) -> str:
    said = [f"{found.rounds} round{'s' if found.rounds != 1 else ''}"]
    said.append(f"{format_duration(found.spent_seconds)} of trials (budget {format_duration(found.budget_seconds)})")
    if found.sps is not None:
        said.append(f"{format_rate(found.sps)} as it is")
    return ", ".join(said)


def rows(found: QuickWins) -> list[tuple[TriedCure, tuple[str, ...]]]:
    """The cures that have something to do, the fastest first, with the cells of the table behind the name."""
    tried = [entry for entry in found.cures if entry.gain is not None]
    tried.sort(key=lambda entry: (entry.gain.ratio if entry.gain else None) or 0.0, reverse=True)
    return [(entry, _cells(entry)) for entry in tried]


def _cells(entry: TriedCure | Together) -> tuple[str, ...]:
    gain = entry.gain
    assert gain is not None
    verdict = WORDS[gain.verdict]
    if entry.state == "dropped" and gain.verdict == "cannot-tell":
        verdict = "dropped"
    return (ratio(gain.ratio), interval(gain.low, gain.high), str(gain.pairs), verdict, results_word(entry.results))


def together_cells(together: Together) -> tuple[str, ...] | None:
    return _cells(together) if together.gain is not None else None


def results_word(results: Results | None) -> str:
    return RESULTS[results.kind] if results is not None else ABSENT


def result_notes(found: QuickWins) -> list[str]:
    """What stands behind the column of results: once where it is the same for all."""
    entries = [(tried.cure.name, tried.results) for tried in found.cures if tried.results is not None]
    if found.together is not None and found.together.results is not None:
        entries.append(("all together", found.together.results))
    texts = {results.text for _, results in entries}
    if len(texts) == 1:
        return [f"results: {texts.pop()}"]
    by_text: dict[str, list[str]] = {}
    for name, results in entries:
        by_text.setdefault(results.text, []).append(name)
    return [f"{', '.join(names)}: {text}" for text, names in by_text.items()]


def left_out(found: QuickWins) -> Iterator[str]:
    """Cures that are in no row, and why; and those that were given up on the way."""
    for tried in found.cures:
        if tried.state == "nothing-to-do":
            yield f"{tried.cure.name} has nothing to do here: {tried.why}"
        elif tried.state in ("failed", "not-run"):
            yield f"{tried.cure.name}: {tried.why}"
        elif tried.state == "dropped":
            yield f"{tried.cure.name} was given up: {tried.why}"
    yield from _beside_the_combination(found)


def _beside_the_combination(found: QuickWins) -> Iterator[str]:
    together = found.together
    if together is None:
        return
    if together.gain is None:
        yield f"{' + '.join(together.cures)} together: {together.why}"
    for tried in found.winners:
        if tried.cure.name not in together.cures:
            yield f"{tried.cure.name} is no part of the combination: {_why_not_combined(tried)}"


def _why_not_combined(tried: TriedCure) -> str:
    if tried.cure.diagnosis_only:
        return "it shows what something costs, and is no cure"
    if tried.results is not None and tried.results.kind == "different":
        return "it comes to other results"
    return "it and a faster one exclude each other"


def mark(cure: Cure) -> str:
    """What a person has to know before keeping it; empty where there is nothing."""
    if cure.diagnosis_only:
        return "for diagnosis only"
    return "may change results" if cure.changes_results else ""


def to_keep(found: QuickWins) -> list[TriedCure]:
    """The winners whose lines are shown: those of the combination, or all."""
    together = found.together
    if together is None or together.gain is None or together.gain.verdict != "faster":
        return list(found.winners)
    taken = [tried for tried in found.winners if tried.cure.name in together.cures]
    return [*taken, *(tried for tried in found.winners if tried.cure.name not in together.cures)]
