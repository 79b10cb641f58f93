"""Results are what the commands write with --json, byte for byte but for wall times."""

from __future__ import annotations

import base64
import gzip
import json
import pathlib
import pickle
import re

import pytest
import support
from support import GATHER, QUICKSTART, SERVER, SMALL, SMALL_DICT, json_of, same

import podsim


def test_run_of_a_file() -> None:
    mine = podsim.run(QUICKSTART)
    assert same(mine, json_of("run", QUICKSTART))
    assert same(mine, podsim.run(str(QUICKSTART)))
    assert mine["schema"] == "podsim/2"


def test_run_of_a_text_and_of_a_dictionary(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    theirs = json_of("run", file)
    assert same(podsim.run(SMALL), {**theirs, "file": "<text>"})
    assert same(podsim.run(SMALL_DICT), {**theirs, "file": "<dict>"})
    assert same(podsim.run(json.dumps(SMALL_DICT)), {**theirs, "file": "<text>"})


def test_run_of_a_program(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "gather.yaml"
    file.write_text(GATHER)
    mine = podsim.run(file)
    assert same(mine, json_of("run", file))
    assert len(mine.spans) == 0


def test_run_with_options(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    settings = {"batch.tokens": "64Ki", "mesh": {"fsdp": "x y", "tensor": "z"}, "model.layers": 3}
    theirs = json_of(
        "run", file, "--set", "batch.tokens=64Ki", "--set", "mesh={fsdp: x y, tensor: z}",
        "--set", "model.layers=3", "--fold", "off", "--what-if", "--no-reuse",
    )  # fmt: skip
    mine = podsim.run(file, set=settings, fold="off", what_if=True, reuse=False)
    assert same(mine, theirs)
    assert "mxu=inf" in mine["what_if_s"] and mine["simulated_chips"] == 8


def test_trace_is_that_of_the_command(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    podsim.run(file, trace=tmp_path / "mine.json")
    json_of("run", file, "--trace", tmp_path / "theirs.json")
    assert (tmp_path / "mine.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()


def test_trace_all_has_more_of_the_links(tmp_path: pathlib.Path) -> None:
    podsim.run(SMALL, trace=tmp_path / "steady.json.gz")
    podsim.run(SMALL, trace=tmp_path / "all.json.gz", trace_all=True)

    def messages(name: str) -> int:
        events = json.loads(gzip.decompress((tmp_path / name).read_bytes()))["traceEvents"]
        return sum("hop" in event.get("args", {}) for event in events)

    assert messages("all.json.gz") > messages("steady.json.gz") > 0


def test_spans_are_operations_of_the_trace(tmp_path: pathlib.Path) -> None:
    step = podsim.run(SMALL, trace=tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    traced = [
        (e["args"]["op"], round(e["ts"] * 1e3), round((e["ts"] + e["dur"]) * 1e3))
        for e in events
        if e["ph"] == "X" and names[e["tid"]] == "XLA Ops" and e["cat"] != "wait"
    ]
    spans = step.spans

    def nanoseconds(ps: int) -> int:
        """Of the trace's clock, which begins at 1 us."""
        return 1000 + (ps + 500) // 1000

    computed = [
        (s.name, nanoseconds(s.start_ps), nanoseconds(s.end_ps))
        for s in spans
        if s.track == "compute" and nanoseconds(s.start_ps) < nanoseconds(s.end_ps)
    ]
    assert computed == traced and len(traced) > 20
    # The step ends with its last operation, and the compute stream's add up to the compute time.
    assert max(spans.ends_ps) / 1e12 == step["step_time_s"]
    compute = sum(s.end_ps - s.start_ps for s in spans if s.track == "compute")
    assert compute / 1e12 == step["compute_s"]
    assert spans[-1] == list(spans)[-1] == spans[len(spans) - 1]
    assert spans[1:3] == list(spans)[1:3]
    for column in (spans.starts_ps, spans.ends_ps):
        view = memoryview(column)
        assert view.format == "q" and view.itemsize == 8 and view.readonly
        with pytest.raises(TypeError):
            column[0] = 7


def test_a_run_can_be_copied_between_processes() -> None:
    step = podsim.run(SMALL)
    copy = pickle.loads(pickle.dumps(step))
    assert copy == step and list(copy.spans) == list(step.spans)


def test_serve(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text(SERVER)
    assert same(podsim.serve(file), json_of("serve", file))
    mine = podsim.serve(file, set={"serving.requests": 3}, requests=True)
    assert same(mine, json_of("serve", file, "--set", "serving.requests=3", "--requests"))


def test_compare_of_files_folders_and_texts(tmp_path: pathlib.Path) -> None:
    for name, text in [("a", SMALL), ("b", GATHER), ("c", SERVER)]:
        (tmp_path / f"{name}.yaml").write_text(text)
    theirs = json_of("compare", tmp_path)
    assert same(podsim.compare(tmp_path), theirs)
    assert same(podsim.compare(*sorted(tmp_path.glob("*.yaml")), jobs=1), theirs)
    mixed = podsim.compare(tmp_path / "a.yaml", SMALL_DICT, base=tmp_path)
    first, second = (without_file(row) for row in mixed["scenarios"])
    assert same(first, second)


def without_file(row: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key != "file"}


def test_sweep(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    record = tmp_path / "theirs.jsonl"
    done = support.podsim(
        "sweep", file, "--vary", "batch.tokens=32Ki,3Ki,64Ki", "--vary", "training.remat=block,none",
        "--set", "model.layers=3", "--jsonl", record,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    theirs = [json.loads(line) for line in record.read_text().splitlines()]
    vary = {"batch.tokens": ["32Ki", "3Ki", "64Ki"], "training.remat": ["block", "none"]}
    mine = podsim.sweep(file, vary, set={"model.layers": 3})
    assert len(mine) == 6 and same(mine, theirs)
    assert [("error" in row) for row in mine] == [False, False, True, True, False, False]
    as_text = {"batch.tokens": "32Ki,3Ki,64Ki", "training.remat": "block,none"}
    assert same(podsim.sweep(file, as_text, set={"model.layers": 3}, jobs=1), theirs)
    # Ordered by a column, refused settings last.
    fastest = podsim.sweep(file, vary, set={"model.layers": 3}, sort="step_time_s")
    times = [row["step_time_s"] for row in fastest[:4]]
    assert times == sorted(times) and "error" in fastest[4]
    # A shard has every other setting.
    second = podsim.sweep(file, vary, set={"model.layers": 3}, shard="1/2")
    assert same(second, theirs[1::2])


def test_sweep_goes_on_with_the_record_of_the_command(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    record = tmp_path / "record.jsonl"
    assert support.podsim("sweep", file, "--vary", "model.layers=1,2,3", "--jsonl", record).returncode == 0
    whole = record.read_bytes()
    record.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    mine = podsim.sweep(
        file, {"model.layers": [1, 2, 3]}, jsonl=record, csv=tmp_path / "table.csv"
    )
    assert record.read_bytes() == whole
    assert same(mine, [json.loads(line) for line in whole.splitlines()])
    assert (tmp_path / "table.csv").read_text().startswith("model.layers,")


def test_sweep_of_maps_in_a_dictionary() -> None:
    meshes = [{"fsdp": "x y z"}, {"fsdp": "x y", "tensor": "z"}]
    rows = podsim.sweep(SMALL_DICT, {"mesh": meshes})
    assert [row["mesh"] for row in rows] == [
        podsim.run(SMALL_DICT, set={"mesh": mesh})["mesh"] for mesh in meshes
    ]


@pytest.mark.parametrize("numbers", [False, True])
def test_collective(numbers: bool) -> None:
    theirs = json_of("collective", "--chip", "v5p", "--slice", "4x4x8", "--op", "all-gather",
                     "--axes", "xyz", "--bytes", "1000000")  # fmt: skip
    mine = podsim.collective(
        chip="v5p", slice=(4, 4, 8) if numbers else "4x4x8", op="all-gather", axes="xyz",
        bytes=1_000_000 if numbers else "1 MB",
    )  # fmt: skip
    assert same(mine, theirs)


def test_collectives_with_ends() -> None:
    send = ["collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "send", "--bytes", "1e6"]
    mine = podsim.collective(chip="v5p", slice="4x4x4", op="send", bytes=1e6, from_="0,0,0", to=(1, 2, 3))
    assert same(mine, json_of(*send, "--from", "0,0,0", "--to", "1,2,3"))
    mine = podsim.collective(chip="v5p", slice="4x4x4", op="permute", axes="x", bytes=1e6, shift=-1)
    send[6] = "permute"
    assert same(mine, json_of(*send, "--axes", "x", "--shift=-1"))


def test_a_range_of_sizes(tmp_path: pathlib.Path) -> None:
    command = ["collective", "--chip", "v4p", "--slice", "4x4x4", "--op", "all-reduce", "--axes", "x",
               "--bytes", "1e3:1e6", "--fold", "off", "--algorithm", "two-way"]  # fmt: skip
    mine = podsim.collective(
        chip="v4p", slice="4x4x4", op="all-reduce", axes="x", bytes="1e3:1e6", fold="off",
        algorithm="two-way", csv=tmp_path / "mine.csv",
    )  # fmt: skip
    assert len(mine) == 4 and same(mine, json_of(*command, "--csv", tmp_path / "theirs.csv"))
    assert (tmp_path / "mine.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def data_of(page: pathlib.Path) -> dict:
    """What a page holds, unpacked."""
    packed = re.search(r'id="data">([^<]*)<', page.read_text())
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed.group(1))))


def test_reports_hold_the_results(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    step = podsim.run(SMALL, report=page)
    assert data_of(page)["kind"] == "run" and data_of(page)["result"] == step
    compared = podsim.compare(SMALL, report=page)
    assert data_of(page)["kind"] == "compare" and data_of(page)["result"] == compared
    ring = podsim.collective(
        chip="v5p", slice="2x2x2", op="all-gather", axes="xyz", bytes="1e3:1e6", report=page
    )
    assert data_of(page)["kind"] == "collective" and data_of(page)["result"] == ring
    swept = podsim.sweep(SMALL, {"model.layers": [1, 2]}, report=page)
    rows = data_of(page)["result"]["rows"]
    assert [row[2] for row in rows] == [setting["step_time_s"] for setting in swept]
