"""The functions that help to write scenarios give the JSON of their commands."""

from __future__ import annotations

import json
import pathlib
import warnings

import pytest
from support import QUICKSTART, SMALL, SMALL_DICT, SOURCE, json_of, podsim as command, same

import podsim

CONFIG = SOURCE / "tests/workloads/configs/qwen2-7b.json"


def test_show() -> None:
    theirs = json_of("show", QUICKSTART, "--set", "training.remat=full")
    assert same(podsim.show(QUICKSTART, set={"training.remat": "full"}), theirs)


def test_check(tmp_path: pathlib.Path) -> None:
    (tmp_path / "good.yaml").write_text(SMALL)
    theirs = json_of("check", tmp_path, "--set", "model.layers=3")
    assert same(podsim.check(tmp_path, set={"model.layers": 3}), theirs)
    # What is wrong is a result.
    (tmp_path / "wrong.yaml").write_text(SMALL.replace("v5p", "v9"))
    done = command("check", tmp_path, "--json", "-")
    assert done.returncode == 2
    mine = podsim.check(tmp_path)
    assert same(mine, json.loads(done.stdout))
    assert "no chip" in json.dumps(mine) or "v9" in json.dumps(mine)


def test_estimate(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    theirs = json_of("estimate", file, "--set", "batch.tokens=64Ki")
    assert same(podsim.estimate(file, set={"batch.tokens": "64Ki"}), theirs)
    with pytest.raises(podsim.ScenarioError, match="a program has no closed forms of a step"):
        podsim.estimate("hardware: {chip: v5p, slice: 2x2x2}\nprogram: {stages: [{do: matmul, m: 8, k: 8, n: 8}]}\n")


def test_init(tmp_path: pathlib.Path) -> None:
    theirs = command("init", "--chip", "v5p", "--slice", "4x4x4", "--model", "llama-3-8b")
    text = podsim.init(chip="v5p", slice=(4, 4, 4), model="llama-3-8b")
    assert text == theirs.stdout
    assert podsim.run(text, explain=False)["chips"] == 64
    with pytest.warns(UserWarning, match="no simple mesh of this slice holds the model"):
        podsim.init(chip="v5e", slice="1x1", model="llama-3-70b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        podsim.init(chip="v5p", slice="4x4x4", model="llama-3-8b")


def test_search(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    theirs = json_of(
        "search", file, "--over", "mesh,remat", "--vary", "batch.tokens=32Ki,64Ki", "--write", tmp_path / "theirs.yaml"
    )
    news: list[podsim.Progress] = []
    mine = podsim.search(
        file, over=["mesh", "remat"], vary={"batch.tokens": ["32Ki", "64Ki"]}, write=tmp_path / "mine.yaml",
        progress=news.append,
    )  # fmt: skip
    assert same(mine, theirs) and news
    best = podsim.run(tmp_path / "mine.yaml", explain=False)
    assert best["step_time_s"] == podsim.run(tmp_path / "theirs.yaml", explain=False)["step_time_s"]
    assert same(podsim.search(file, over="mesh,remat", vary={"batch.tokens": "32Ki,64Ki"}, jobs=1), theirs)
    early = podsim.search(file, over=["mesh", "remat"], seconds=0.001, jobs=1)
    assert not early["complete"] and early["best"]


def test_a_search_varies_what_a_sweep_varies(tmp_path: pathlib.Path) -> None:
    """Values that are lists, maps, texts with commas or with quotes; one value alone; none."""
    slow = [{"kind": "slow_chips", "x": 1, "factor": 1.5}]
    for values in ([slow], [[]], [slow, []]):
        rows = podsim.sweep(SMALL_DICT, {"perturb": values})
        found = podsim.search(SMALL_DICT, vary={"perturb": values})
        assert found["counts"]["enumerated"] == len(rows) == len(values)
        assert found["best"][0]["step_time_s"] == min(row["step_time_s"] for row in rows)
    for values in (["a, b"], ["a", "b]c"], ["'a, b'", '"c"'], ["it's", 'say "a"']):
        rows = podsim.sweep(SMALL_DICT, {"name": values})
        assert podsim.search(SMALL_DICT, vary={"name": values})["counts"]["enumerated"] == len(rows) == len(values)
    meshes = [{"fsdp": "x", "tensor": "y z"}, "{fsdp: x y z}"]
    assert podsim.search(SMALL_DICT, vary={"mesh": meshes})["counts"]["enumerated"] == 2
    with pytest.raises(TypeError, match="^vary is a mapping of keys to values, not list$"):
        podsim.search(SMALL_DICT, vary=[("name", ["a"])])  # type: ignore[arg-type]
    record = tmp_path / "record"
    podsim.search(SMALL_DICT, over="remat", jsonl=record)
    for read in (record, str(record), [record]):
        podsim.search(SMALL_DICT, over="remat", read=read)
    with pytest.raises(TypeError):
        podsim.search(SMALL_DICT, over="remat", read=[None])  # type: ignore[list-item]


def test_what_a_callback_raises_ends_a_search() -> None:
    def enough(_: podsim.Progress) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        podsim.search(SMALL_DICT, over="mesh,remat,prefetch", progress=enough)


def test_imports(tmp_path: pathlib.Path) -> None:
    assert same(podsim.import_hf(CONFIG), json_of("import", "hf", CONFIG))
    base = tmp_path / "base.yml"
    base.write_text("model_name: llama3-8b\nper_device_batch_size: 1\nmax_target_length: 4096\nici_fsdp_parallelism: -1\n")
    with pytest.raises(TypeError, match="^overrides is a mapping of keys to values, not int$"):
        podsim.import_maxtext(base, 5)  # type: ignore[arg-type]
    theirs = json_of("import", "maxtext", base, "compile_topology=v5p-128", "remat_policy=full")
    mine = podsim.import_maxtext(base, {"compile_topology": "v5p-128", "remat_policy": "full"})
    assert same(mine, theirs)
    assert podsim.run(mine["scenario"], explain=False)["chips"] == 64
