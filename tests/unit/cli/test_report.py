"""`rlprof report`: where the report goes, and what happens when it cannot."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlprof.cli import report as command
from rlprof.model.errors import NewerRecording
from rlprof.model.recording import Recording
from support.examples import busy_recording, ppo_recording


@pytest.fixture(autouse=True)
def a_recording_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: str) -> Recording:
        if "newer" in path:
            raise NewerRecording("newer.rlprof has layout 9\x1b[31m: install a newer rlprof")
        return ppo_recording()

    monkeypatch.setattr(command, "open_recording", read)


def run(*words: str) -> Result:
    return CliRunner().invoke(command.report, list(words))


def test_the_terminal_is_the_default() -> None:
    result = run("run.rlprof")
    assert result.exit_code == 0
    assert "Where the time went" in result.output


def test_a_dash_sends_json_to_stdout_and_nothing_else() -> None:
    assert json.loads(run("run.rlprof", "--json", "-").stdout)["schema"] == 1


def test_several_files_are_written_at_once_and_nothing_is_printed(tmp_path: Path) -> None:
    files = {option: tmp_path / f"report.{option}" for option in ("json", "markdown", "text")}
    result = run("run.rlprof", *(word for option, file in files.items() for word in (f"--{option}", str(file))))
    assert result.exit_code == 0
    assert result.output == ""
    assert json.loads(files["json"].read_text())["schema"] == 1
    assert files["markdown"].read_text().startswith("## rlprof")
    assert "Operations" in files["text"].read_text()
    assert sorted(os.listdir(tmp_path)) == ["report.json", "report.markdown", "report.text"]


def test_a_recording_that_cannot_be_read_ends_in_one_line_and_its_exit_code() -> None:
    result = run("newer.rlprof")
    assert result.exit_code == 2
    assert result.stderr == "rlprof: newer.rlprof has layout 9␛[31m: install a newer rlprof\n"


def test_a_failed_write_leaves_the_old_report_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "report.json"
    old.write_text("old")

    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    result = run("run.rlprof", "--json", str(old))
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    result = run("run.rlprof", "--text", str(tmp_path / "nowhere" / "report.txt"))
    assert result.exit_code == 2
    assert result.stderr.startswith("rlprof: cannot write")
    assert result.stderr.count("\n") == 1


def test_the_recording_is_never_overwritten_by_its_report(tmp_path: Path) -> None:
    recording = tmp_path / "run.rlprof"
    recording.write_bytes(b"data")
    result = run(str(recording), "--json", str(recording))
    assert result.exit_code == 2
    assert recording.read_bytes() == b"data"


def test_a_link_keeps_pointing_where_it_points(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    run("run.rlprof", "--json", str(tmp_path / "link.json"))
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["schema"] == 1


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert run("run.rlprof", "--json", os.devnull).exit_code == 0
    assert not Path(os.devnull).is_file()


def test_help_shows_examples() -> None:
    assert "rlprof report run.rlprof --json -" in run("--help").output


def test_why_prints_the_evidence_of_one_rule_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "open_recording", lambda path: busy_recording())
    result = run("run.rlprof", "--why", "unattributed-high")
    assert result.exit_code == 0
    assert "Evidence" in result.output
    assert "Where the time went" not in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--why", "unattributed-high"), "unattributed-high has no finding in this recording; it has none at all"),
        (("--why", "no-such"), "there is no rule no-such: `rlprof rules` lists them"),
        (("--why", "unattributed-high", "--json", "-"), "--why prints to the terminal"),
    ],
)
def test_why_without_an_answer_is_one_clear_line(words: tuple[str, ...], said: str) -> None:
    result = run("run.rlprof", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
