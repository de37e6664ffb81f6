"""The text for Prometheus: names cannot break out of it, and counters do not sink."""

from __future__ import annotations

from rlprof.render.prometheus import Metric, PrometheusText, Sample


def lines(text: PrometheusText, metric: Metric) -> list[str]:
    return [line for line in "".join(text._lines(metric)).splitlines() if not line.startswith("#")]


def test_a_name_cannot_break_out_of_its_label() -> None:
    hostile = 'a"} 1\nrlprof_evil 2\\'
    (line,) = lines(PrometheusText(), Metric("x", "gauge", "X.", (Sample(1.5, (("phase", hostile),)),)))
    assert line == 'x{phase="a\\"} 1␊rlprof_evil 2\\\\"} 1.5'


def test_a_counter_stays_where_an_estimate_has_sunk() -> None:
    text = PrometheusText()
    seen = [lines(text, Metric("c", "counter", "C.", (Sample(value),))) for value in (1.0, 3.0, 2.9, 3.5)]
    assert seen == [["c 1.0"], ["c 3.0"], ["c 3.0"], ["c 3.5"]]


def test_what_is_unknown_or_no_number_is_left_out() -> None:
    for value in (None, float("nan"), float("inf")):
        assert lines(PrometheusText(), Metric("g", "gauge", "G.", (Sample(value),))) == []
