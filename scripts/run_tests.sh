#!/usr/bin/env bash
# Every test but the long campaigns, in two passes: those that go by the times of real programs have the machine for
# themselves, all others run two at a time. Beside one another the former would measure each other.
#
#   scripts/run_tests.sh [WORD OF PYTEST ...]          e.g. scripts/run_tests.sh tests/unit -k ledger
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

NOTHING_CHOSEN=5

.venv/bin/python -m pytest -m "timed and not slow" "$@"
alone=$?
.venv/bin/python -m pytest -m "not timed and not slow" -n 2 --dist loadfile "$@"
together=$?

# What was asked for may lie in one pass alone.
if [ "$alone" -eq "$NOTHING_CHOSEN" ]; then exit "$together"; fi
if [ "$together" -eq "$NOTHING_CHOSEN" ]; then exit "$alone"; fi
exit $((alone > together ? alone : together))
