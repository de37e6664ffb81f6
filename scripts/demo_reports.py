"""Make the HTML reports of the demos in docs/demos/reports anew, from real runs.

python scripts/demo_reports.py [NAME ...]        (needs the demos extra; takes a few minutes)

Recordings are made in demo-report/; one that is there already is drawn again and not run again. Everything lies below
this repository, so that no page names a path of this machine: one that does is refused.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "demos" / "reports"
MADE = "demo-report"  # below the repository, and ignored by it
LARGEST_BYTES = 1_000_000

COMMANDS = {
    "petri": ["--batches", "10"],
    "snake": ["--episodes", "300", "--log-file", f"{MADE}/snake.log"],
    "cyber": ["--envs", "8", "--backend", "subproc", "--episodes", "160"],
    "robots": ["--timesteps", "1024", "--charts", f"{MADE}/robots.png", "--json", f"{MADE}/robots.json"],
    "teacher": [
        "--rollouts-every", "0", "--supervised-steps", "5120", "--total-steps", "10240",
        "--torch-trace", "wait=1,warmup=1,active=2,record_shapes",
    ],
}  # fmt: skip


def main() -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    (ROOT / MADE).mkdir(exist_ok=True)
    for name in sys.argv[1:] or COMMANDS:
        recording = f"{MADE}/{name}.rlprof"
        if not (ROOT / recording).exists():
            run("demo", name, "--no-html", "--out", recording, *COMMANDS[name])
        page = PAGES / f"{name}.html"
        run("report", recording, "--html", str(page))
        check(page)
        print(f"{page.relative_to(ROOT)}: {page.stat().st_size:,} bytes")


def run(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "rlprof", *words], cwd=ROOT, check=True)


def check(page: Path) -> None:
    """Small, and nothing in it that is about this machine alone."""
    text = page.read_text(encoding="utf-8")
    folders = (str(ROOT), str(Path.home()), sys.prefix)
    found = [folder for folder in folders if len(folder) > 1 and re.search(re.escape(folder) + r"[\\/]", text)]
    if found or len(text) > LARGEST_BYTES:
        raise SystemExit(f"{page}: {len(text):,} characters, with paths below {', '.join(found) or 'nothing'}")


if __name__ == "__main__":
    main()
