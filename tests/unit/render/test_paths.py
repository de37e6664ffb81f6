"""Files in what is printed are named so that whoever reads it in that place can open them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlprof.render.paths import from_here


def test_files_below_the_terminals_folder_are_named_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inside, beside = tmp_path / "my agent" / "env (v2).py", tmp_path.with_name(f"{tmp_path.name}-other") / "env.py"
    assert from_here(str(inside)) == str(Path("my agent", "env (v2).py"))
    assert from_here(str(beside)) == str(beside)
    text = f"{tmp_path}/env.py:12 (in step; 3 s): leave {tmp_path}/a.py and /usr/lib/x.py, 1/2 of it"
    assert from_here(text) == "env.py:12 (in step; 3 s): leave a.py and /usr/lib/x.py, 1/2 of it"


def test_a_folder_that_is_gone_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert from_here(f"{gone}/env.py") == f"{gone}/env.py"
