"""Errors are exceptions that say what the command line says."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import pytest
from support import SMALL, SMALL_DICT, podsim as command

import podsim

BAD = SMALL.replace("2x2x2", "2x2x3x4").replace("layers: 2", "layer: 2")


def error_of(scenario: Any, **arguments: Any) -> podsim.ScenarioError:
    with pytest.raises(podsim.ScenarioError) as caught:
        podsim.run(scenario, **arguments)
    return caught.value


def test_faults_of_a_file_are_the_lines_of_the_command(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(BAD)
    error = error_of(file)
    assert str(error) + "\n" == command("run", file).stderr
    # `hardware: {chip: v5p, slice: ` has 29 characters, `model: {base: llama-3-8b, ` 26.
    assert [fault[:3] for fault in error.faults] == [(str(file), 2, 30), (str(file), 3, 27)]
    assert error.faults[1].message.startswith("unknown model key 'layer'; did you mean 'layers'?")
    assert isinstance(error, ValueError) and isinstance(error, podsim.Error)


def test_faults_of_a_text_have_its_lines(tmp_path: pathlib.Path) -> None:
    assert [fault[:3] for fault in error_of(BAD).faults] == [("<text>", 2, 30), ("<text>", 3, 27)]
    assert error_of(BAD, base=tmp_path).faults[0].file == str(tmp_path / "<text>")


def test_faults_of_a_dictionary_have_no_lines() -> None:
    error = error_of({**SMALL_DICT, "model": {"base": "llama-3-8b", "layer": 2}})
    assert [fault[:3] for fault in error.faults] == [("<dict>", None, None)]
    assert str(error).startswith("<dict>: unknown model key 'layer'; did")
    deep: Any = {}
    for _ in range(20):
        deep = {"a": deep}
    assert str(error_of(deep)) == "<dict>: maps and lists are nested more than 16 deep; a scenario needs 4 levels"
    assert error_of({**SMALL_DICT, "name": "a\nb"}).faults[0].line is None
    itself: dict[str, Any] = {}
    itself["model"] = itself
    with pytest.raises(ValueError):
        podsim.run(itself)


def test_faults_of_options_name_them() -> None:
    error = error_of(SMALL, set={"batch.token": "8Mi"})
    assert [fault[1:3] for fault in error.faults] == [(None, None)]
    assert error.faults[0].file == "--set batch.token=8Mi"
    assert str(error_of(SMALL, fold="of")) == "unknown --fold 'of'; did you mean 'off'? allowed: auto, off"
    assert error_of("no-such-file.yaml").faults == [
        ("no-such-file.yaml", None, None, "cannot read the file: No such file or directory; "
         "check the path and its permissions")
    ]  # fmt: skip
    with pytest.raises(podsim.ScenarioError, match="--slice and --axes are missing"):
        podsim.collective(chip="v5p", slice=None, op="all-gather", bytes=1)  # type: ignore[arg-type]
    with pytest.raises(podsim.ScenarioError, match="--vary is missing"):
        podsim.sweep(SMALL, {})
    with pytest.raises(podsim.ScenarioError, match="--vary batch.tokens: no values"):
        podsim.sweep(SMALL, {"batch.tokens": []})
    with pytest.raises(podsim.ScenarioError, match="only --json writes to standard output"):
        podsim.run(SMALL, trace="-")
    with pytest.raises(podsim.ScenarioError, match="no scenario"):
        podsim.compare()


def test_all_files_of_a_comparison_are_read_first(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.yaml").write_text(BAD)
    (tmp_path / "b.yaml").write_text("name: [")
    with pytest.raises(podsim.ScenarioError) as caught:
        podsim.compare(tmp_path, {"model": "none"})
    files = [fault.file for fault in caught.value.faults]
    assert files[:3] == [str(tmp_path / "a.yaml")] * 2 + [str(tmp_path / "b.yaml")]
    assert set(files[3:]) == {"<dict>"}


def test_simulations_beyond_the_clock(tmp_path: pathlib.Path) -> None:
    error = error_of({
        **SMALL_DICT,
        "hardware": {"chip": {"base": "v5p", "bf16_flops": "1 GFLOP/s"}, "slice": "2x2x2"},
        "batch": {"tokens": "1Ti", "sequence": 4096},
    })  # fmt: skip
    assert str(error) == (
        "<dict>: the simulated time exceeds 106 days (2^63 ps): its matmuls alone, at peak FLOPs, take 10778615 days; "
        "check the batch, the model and the chip's FLOPs"
    )


def test_errors_can_be_copied_between_processes() -> None:
    error = error_of(BAD)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.faults == error.faults


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(TypeError):
        podsim.run(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        podsim.run(SMALL, tokens=7)  # type: ignore[call-arg]
