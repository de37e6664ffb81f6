#!/usr/bin/env bash
# Makes the virtual environment that the Makefile works in, and installs requirements into it.
#
#   scripts/setup.sh [--page] [REQUIREMENT ...]        e.g. scripts/setup.sh -e '.[dev]'
#
# --page also looks for what the tests of the HTML report need: Chromium with a font, and Node.js with the libraries of
# web/. Where these cannot be had, it says so and goes on: the tests that need them are then skipped.
#
# It needs Python 3.10 to 3.13 with venv and headers, and a C compiler. Where one is missing and we are root on Debian
# it installs it; elsewhere it says in one line what to install. PYTHON=... chooses the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

suits() { # is this interpreter there, and of a version that we support?
    "$1" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
        if suits "$candidate"; then
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    return 1
}

missing_packages() { # Debian's names for what this interpreter lacks; "" is an interpreter that was not found
    local python=$1 name
    if [ -z "$python" ]; then
        echo python3 python3-venv python3-dev
    else
        name=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "$name-venv"
        "$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' || echo "$name-dev"
    fi
    if ! command -v "${CC:-cc}" >/dev/null && ! command -v gcc >/dev/null; then
        echo gcc libc6-dev
    fi
}

install_packages() {
    if ! command -v apt-get >/dev/null; then
        fail "missing: $* (Debian's names). Install them with your system's package manager, then run make again."
    fi
    if [ "$(id -u)" -ne 0 ]; then
        fail "missing: $*. Install them with: sudo apt-get update && sudo apt-get install -y $*"
    fi
    say "installing Debian packages: $*"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

page_packages() { # Debian's names for what the tests of the page lack
    if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null &&
        ! command -v google-chrome >/dev/null; then
        echo chromium fonts-dejavu-core
    fi
    command -v node >/dev/null || echo nodejs
    command -v npm >/dev/null || echo npm
}

prepare_page() {
    local missing
    missing=$(page_packages | xargs)
    if [ -n "$missing" ]; then
        # shellcheck disable=SC2086 # a list of names
        (install_packages $missing) || say "going on without: tests that need $missing are skipped"
    fi
    if command -v npm >/dev/null; then
        npm ci --prefix web --silent --no-progress || say "going on without the libraries of web/: its build is not tested"
    fi
}

with_page=
if [ "${1:-}" = --page ]; then
    with_page=yes
    shift
fi

python=$(find_python || true)
if [ -z "$python" ] && [ -n "${PYTHON:-}" ]; then
    fail "PYTHON=$PYTHON is not a Python from 3.10 to 3.13."
fi
missing=$(missing_packages "$python" | xargs)
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # a list of names
    install_packages $missing
    python=$(find_python) || fail "no Python from 3.10 to 3.13 found. Name one with: make PYTHON=/path/to/python"
    missing=$(missing_packages "$python" | xargs)
    [ -z "$missing" ] || fail "$python still lacks what these packages bring: $missing. Choose another with PYTHON=..."
fi

if ! suits "$VENV/bin/python" || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making $VENV with $("$python" --version)"
    rm -rf "$VENV"
    "$python" -m venv "$VENV"
fi

if [ "$#" -gt 0 ]; then
    say "installing $* (a few minutes where torch must be downloaded)"
    started=$SECONDS
    # Compiling thousands of modules of torch takes longer than installing it, and most of them are never imported.
    "$VENV/bin/python" -m pip install -qq --no-compile --disable-pip-version-check --constraint constraints.txt "$@"
    say "installed in $((SECONDS - started)) s"
fi

if [ -n "$with_page" ]; then
    prepare_page
fi
