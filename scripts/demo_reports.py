"""Make the HTML reports of the demos in docs/demos/reports anew, from real runs.

python scripts/demo_reports.py [NAME ...]        (needs the demos extra; takes a few minutes)

They are made in this repository, so that what a page names lies below it: a page with a path of this machine in it is
refused.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "demos" / "reports"
MADE = "demo-report"  # below the repository, and ignored by it
LARGEST_BYTES = 1_000_000

COMMANDS = {
    "petri": ["--batches", "10"],
    "snake": ["--episodes", "300"],
    "cyber": ["--envs", "8", "--backend", "subproc", "--episodes", "160"],
    "robots": ["--timesteps", "1024", "--charts", f"{MADE}/robots.png", "--json", f"{MADE}/robots.json"],
    "teacher": [
        "--rollouts-every", "0", "--supervised-steps", "5120", "--total-steps", "10240",
        "--torch-trace", "wait=1,warmup=1,active=2,record_shapes",
    ],
}  # fmt: skip


def main() -> None:
    names = sys.argv[1:] or list(COMMANDS)
    PAGES.mkdir(parents=True, exist_ok=True)
    (ROOT / MADE).mkdir(exist_ok=True)
    for name in names:
        made = ROOT / MADE / name
        for left in (ROOT / MADE).glob(f"{name}.torch-*"):
            left.unlink()
        words = ["demo", name, "--out", f"{MADE}/{name}", "--overwrite", *COMMANDS[name]]
        subprocess.run([sys.executable, "-m", "rlprof", *words], cwd=ROOT, check=True)
        page = made.with_suffix(".html")
        check(page.read_text(encoding="utf-8"), name)
        shutil.copyfile(page, PAGES / page.name)
        print(f"{PAGES / page.name}: {page.stat().st_size:,} bytes")


def check(page: str, name: str) -> None:
    """Small, and nothing in it that is about this machine alone."""
    folders = {str(ROOT), str(Path.home()), sys.prefix}
    found = [folder for folder in folders if len(folder) > 1 and re.search(re.escape(folder) + r"[\\/]", page)]
    if found or len(page) > LARGEST_BYTES:
        raise SystemExit(f"{name}: {len(page):,} characters, with paths below {', '.join(found) or 'nothing'}")


if __name__ == "__main__":
    main()
