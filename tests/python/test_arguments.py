"""Scenarios and options arrive as they were given."""

from __future__ import annotations

import inspect
import os
import pathlib
import random
import re
import types
from typing import Any

import pytest
from support import SMALL, SMALL_DICT, SOURCE, podsim as command, same

import podsim

CONFIG = SOURCE / "tests/workloads/configs/qwen2-7b.json"

MATMUL = {
    "hardware": {"chip": "v5p", "slice": "2x2x2"},
    "program": {"stages": [{"do": "matmul", "m": 128, "k": 128, "n": 128}]},
}

# Options that are arguments by another name, or the command line's alone.
NAMES = {"from": "from_", "no-reuse": "reuse", "no-explain": "explain"}
OF_THE_TERMINAL = {"json", "help", "show", "verbose", "fail-if-not-fit", "memory"}
# Arguments that are no options.
OF_PYTHON = {"scenario", "scenarios", "base", "progress"}


@pytest.mark.parametrize(
    "name", ["run", "serve", "compare", "sweep", "collective", "search", "show", "check", "estimate"]
)
def test_functions_have_the_options_of_the_commands(name: str) -> None:
    options = set(re.findall(r"^  --([a-z-]+)", command(name, "--help").stdout, re.MULTILINE))
    assert len(options) > 2
    wanted = {NAMES.get(option, option).replace("-", "_") for option in options - OF_THE_TERMINAL}
    given = set(inspect.signature(getattr(podsim, name)).parameters) - OF_PYTHON
    assert given == wanted


@pytest.mark.parametrize("name", ["run", "serve", "compare", "sweep", "collective"])
def test_fallbacks_are_those_of_the_commands(name: str) -> None:
    help_text = command(name, "--help").stdout
    fallbacks = dict(re.findall(r"^  --([a-z-]+) VALUE \(=([^)]*)\)", help_text, re.MULTILINE))
    parameters = inspect.signature(getattr(podsim, name)).parameters
    for option, fallback in fallbacks.items():
        ours = parameters[NAMES.get(option, option).replace("-", "_")].default
        assert ours in (fallback, None), option
    assert fallbacks or name in ("serve", "compare")


def test_any_text_is_kept() -> None:
    """Names of random characters, those of YAML and JSON among them, come back as they went."""
    seed = 20240611
    draw = random.Random(seed)
    letters = "ab 0:#,-[]{}&*!|>'\"%@`\\/?~=é漢\u2028\u00a0\U0001f600"
    for _ in range(200):
        name = "".join(draw.choice(letters) for _ in range(draw.randint(1, 30)))
        assert podsim.run({**MATMUL, "name": name})["scenario"] == name, (seed, name)
    for name in ["null", "~", "true", "1e3", "- a", "{a: b}", "a: b", " blanks ", "0x10", "2024-06-11"]:
        assert podsim.run({**MATMUL, "name": name})["scenario"] == name


def test_numbers_lists_and_flags_are_those_of_a_file(tmp_path: pathlib.Path) -> None:
    stages = [{"do": "matmul", "m": 128, "k": 8192, "n": n} for n in (4096, 8192)]
    scenario = {
        "name": "lists",
        "hardware": {"chip": "v5p", "slice": "4x4x8", "twisted": True, "ici_rates": "book"},
        "program": {"stages": tuple(stages)},
    }
    file = tmp_path / "lists.yaml"
    file.write_text("""
name: lists
hardware: {chip: v5p, slice: 4x4x8, twisted: true, ici_rates: book}
program:
  stages:
    - {do: matmul, m: 128, k: 8192, n: 4096}
    - {do: matmul, m: 128, k: 8192, n: 8192}
""")
    assert same(podsim.run(scenario), podsim.run(file))


class Number:
    """As numpy's."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Fraction:
    def __float__(self) -> float:
        return 0.5


class Array:
    def tolist(self) -> list[str]:
        return ["x", "y", "z"]


def test_values_of_python() -> None:
    plain = podsim.run(SMALL_DICT)
    model = types.MappingProxyType({"base": "llama-3-8b", "layers": Number(2)})
    assert same(podsim.run(types.MappingProxyType({**SMALL_DICT, "model": model})), plain)
    twisted = {"chip": "v5p", "slice": "2x2x4", "twisted": False}
    assert podsim.run({**SMALL_DICT, "hardware": twisted})["chips"] == 16
    with pytest.raises(podsim.ScenarioError, match="does not offer a twisted slice 2x2x4"):
        podsim.run({**SMALL_DICT, "hardware": {**twisted, "twisted": True}})
    # Nothing is what a file has behind an empty key.
    with pytest.raises(podsim.ScenarioError, match="'training' holds nothing"):
        podsim.run({**SMALL_DICT, "training": None})
    with pytest.raises(TypeError, match="a scenario holds no object"):
        podsim.run({**SMALL_DICT, "name": object()})
    with pytest.raises(TypeError, match="the key 1 is no text"):
        podsim.run({**SMALL_DICT, "model": {1: 2}})
    with pytest.raises(TypeError, match="set is a mapping of keys to values, not list"):
        podsim.run(SMALL_DICT, set=["batch.tokens=1Mi"])


def test_a_path_inside_a_scenario_is_of_the_base(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    (tmp_path / "config.json").write_text((CONFIG).read_text())
    scenario = {**SMALL_DICT, "model": {"hf_config": "config.json"}}
    text = SMALL.replace("{base: llama-3-8b, layers: 2}", "{hf_config: config.json}")
    with pytest.raises(podsim.ScenarioError, match="config.json"):
        podsim.run(scenario)
    mine = podsim.run(scenario, base=tmp_path)
    assert mine["file"] == str(tmp_path / "<dict>") and mine["parameters"] > 0
    assert podsim.run(text, base=str(tmp_path))["parameters"] == mine["parameters"]
    (tmp_path / "small.yaml").write_text(text)
    assert podsim.run(tmp_path / "small.yaml")["parameters"] == mine["parameters"]
    monkeypatch.chdir(tmp_path)
    assert podsim.run(scenario)["parameters"] == mine["parameters"]
    with pytest.raises(TypeError, match="base is for texts and dictionaries"):
        podsim.run(tmp_path / "small.yaml", base=tmp_path)


def test_paths_in_a_dictionary(tmp_path: pathlib.Path) -> None:
    config = tmp_path / "config.json"
    config.write_text((CONFIG).read_text())
    scenario = {**SMALL_DICT, "model": {"hf_config": config}}
    assert podsim.run(scenario)["parameters"] > 0


def test_what_is_no_unicode_is_refused() -> None:
    """Half a pair of surrogates, which no UTF-8 has."""
    for name in ("\udcff", "\ud800"):
        for scenario in ({**SMALL_DICT, "name": name}, f"name: {name}\n" + SMALL.replace("name: small\n", "")):
            with pytest.raises(podsim.ScenarioError, match="is not valid UTF-8"):
                podsim.run(scenario)
            assert podsim.check(scenario)["scenarios"][0]["valid"] is False
        with pytest.raises(podsim.ScenarioError, match="is not valid UTF-8"):
            podsim.sweep(SMALL_DICT, {"name": [name]})


def test_what_takes_a_value_is_no_flag(tmp_path: pathlib.Path) -> None:
    """``True`` would take the next option for its value, and bytes be written by what they look like."""
    with pytest.raises(TypeError, match="^jobs is a value, not True$"):
        podsim.sweep(SMALL, {"batch.tokens": ["32Ki"]}, jobs=True)
    with pytest.raises(TypeError, match=r"^axes is a value, not \['x', 'y'\]$"):
        podsim.collective(chip="v5p", slice="4x4x4", op="all-gather", axes=["x", "y"], bytes=1e6)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^vary is a mapping of keys to values, not NoneType$"):
        podsim.sweep(SMALL, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^no path holds a NUL"):
        podsim.run(SMALL, trace=str(tmp_path / "a\0b"))
    for name in (b"as bytes", b"t\xff.json"):
        trace = os.path.join(os.fsencode(tmp_path), name)
        podsim.run(SMALL, explain=False, trace=os.fsdecode(trace))
        assert os.path.getsize(trace) > 0
        podsim.run(SMALL, explain=False, trace=trace)  # type: ignore[arg-type]
    assert sorted(os.listdir(os.fsencode(tmp_path))) == [b"as bytes", b"t\xff.json"]
