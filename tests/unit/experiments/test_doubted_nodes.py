"""A node that lost a trial is given none until the cluster had time to notice whether it lives."""

from __future__ import annotations

from rlprof.experiments.doubted_nodes import DOUBT_SECONDS, DoubtedNodes


def test_a_node_that_lost_a_trial_is_left_alone_for_a_while() -> None:
    now = 100.0
    doubted = DoubtedNodes(lambda: now)
    assert doubted.trusted(["a", "b"]) == ["a", "b"]
    doubted.lost_on("a")
    assert doubted.trusted(["a", "b"]) == ["b"]
    now += DOUBT_SECONDS - 1
    assert doubted.trusted(["a", "b"]) == ["b"]
    now += 1
    assert doubted.trusted(["a", "b"]) == ["a", "b"]


def test_each_loss_begins_the_doubt_anew() -> None:
    now = 0.0
    doubted = DoubtedNodes(lambda: now)
    doubted.lost_on("a")
    now = DOUBT_SECONDS
    doubted.lost_on("a")
    assert doubted.trusted(["a"]) == []
