"""Names of recordings: two runs never share one, and a person's word for one is understood."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlprof.model.errors import OutputExists, RecordingNotFound
from rlprof.recording.place import claim, default_target, find, list_parts, parts_of, target_of


@given(st.text(max_size=300))
def test_any_script_gives_a_name_that_a_file_can_have(script: str) -> None:
    name = default_target(script.replace("\0", "")).name
    assert re.fullmatch(r"[\w.-]+-\d{8}-\d{6}\.rlprof", name)
    assert not name.startswith((".", "-"))
    assert len(name) < 110


def test_a_recording_is_named_after_its_script_below_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = default_target("some/where/train ppo.py")
    assert target.parent == tmp_path / "rlprof-runs"
    assert target.name.startswith("train-ppo-")


@given(st.from_regex(r"[\w-]{1,20}(\.rlprof)?", fullmatch=True))
def test_a_recording_and_its_parts_lead_to_each_other(name: str) -> None:
    target = target_of(parts_of(Path(name)))
    assert target.name == name.removesuffix(".rlprof") + ".rlprof"


def test_a_claim_makes_the_directory_of_parts_for_its_owner_alone(tmp_path: Path) -> None:
    target = claim(tmp_path / "deep" / "run", numbered=False)
    assert target == tmp_path / "deep" / "run.rlprof"
    assert stat.S_IMODE(parts_of(target).stat().st_mode) == 0o700
    assert not target.exists()


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "run.rlprof").touch()
    names = [claim(tmp_path / "run.rlprof", numbered=True).name for _ in range(3)]
    assert names == ["run-2.rlprof", "run-3.rlprof", "run-4.rlprof"]


@pytest.mark.parametrize("taken", ["run.rlprof", "run.rlprof.parts"])
def test_a_name_that_is_taken_is_refused_where_it_was_asked_for(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).mkdir()
    with pytest.raises(OutputExists, match="--overwrite"):
        claim(tmp_path / "run.rlprof", numbered=False)


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputExists, match="cannot write"):
        claim(tmp_path / "file" / "run.rlprof", numbered=True)


@pytest.mark.parametrize("word", ["run", "run.rlprof", "run.rlprof.parts"])
@pytest.mark.parametrize("there", ["run.rlprof", "run.rlprof.parts"])
def test_a_recording_is_found_by_any_of_its_names(tmp_path: Path, word: str, there: str) -> None:
    (tmp_path / there).mkdir()
    assert find(tmp_path / word) == tmp_path / there


def test_a_merged_recording_comes_before_its_parts(tmp_path: Path) -> None:
    (tmp_path / "run.rlprof").touch()
    (tmp_path / "run.rlprof.parts").mkdir()
    assert find(tmp_path / "run") == tmp_path / "run.rlprof"


def test_what_is_not_there_is_said_with_the_newest_one_that_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordingNotFound, match="rlprof run SCRIPT"):
        find("nothing")
    (tmp_path / "rlprof-runs").mkdir()
    (tmp_path / "rlprof-runs" / "train-1.rlprof").touch()
    with pytest.raises(RecordingNotFound, match=r"train-1\.rlprof"):
        find("nothing")


def test_parts_without_content_are_counted_as_processes_that_never_wrote(tmp_path: Path) -> None:
    (tmp_path / "b.part").write_bytes(b"x")
    (tmp_path / "a.part").write_bytes(b"x")
    (tmp_path / "c.part").touch()
    (tmp_path / "run.json").write_text("{}")
    assert list_parts(tmp_path) == ([tmp_path / "a.part", tmp_path / "b.part"], 1)
