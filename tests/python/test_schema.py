"""Every kind of document that podsim writes is as docs/podsim-2.schema.json says, and every number's key says its unit."""

from __future__ import annotations

import json
import re
from typing import Any, Iterator

import jsonschema
import pytest
import yaml

from support import GATHER, SERVER, SMALL, SOURCE, json_of, podsim

SCHEMA = json.loads((SOURCE / "docs/podsim-2.schema.json").read_text())


def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]})


def faults(kind: str, document: Any) -> list[str]:
    return [f"{list(e.path)}: {e.message}" for e in validator(kind).iter_errors(document)]


@pytest.fixture
def files(tmp_path: Any) -> Any:
    for name, text in {"small": SMALL, "server": SERVER, "gather": GATHER}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def documents(files: Any) -> Iterator[tuple[str, Any]]:
    small, server, gather = (files / f"{n}.yaml" for n in ("small", "server", "gather"))
    yield "step", json_of("run", small)
    yield "step", json_of("run", small, "--what-if")
    yield "step", json_of("run", small, "--no-explain", "--set", "report={tokens: 1T, price: 1 USD/chip-hour}")
    yield "step", json_of("run", small, "--set", "mesh={fsdp: x y, pipeline: z}", "--set", "training.microbatches=2")
    # Ranks of unequal work: without its explanation there is no step of equal work beside it.
    uneven = ["--set", "mesh={fsdp: y z, context: x}", "--set", "training.placement=plain"]
    yield "step", json_of("run", small, *uneven)
    yield "step", json_of("run", small, "--no-explain", *uneven)
    small_chip = ["--no-explain", "--set", "hardware.chip={base: v5e, hbm_capacity: 8 GB}", "--set", "hardware.slice=2x2"]
    yield "step", json_of("run", small, *small_chip, "--set", "mesh={fsdp: x y}")
    yield "step", json_of("run", small, *small_chip, "--set", "mesh={fsdp: x y}", "--set", "hardware.chip.hbm_capacity=1 GB")
    yield "step", json_of("run", SOURCE / "scenarios/book/sec6-4pods.yaml")
    yield "step", json_of("run", SOURCE / "scenarios/examples/llama3-70b-decode-v5e.yaml")
    yield "program", json_of("run", gather)
    one = ["collective", "--chip", "v5p", "--slice", "4x4x4", "--axes", "x"]
    yield "collective", json_of(*one, "--op", "all-reduce", "--bytes", "1e6")
    yield "collective", json_of(*one, "--op", "broadcast", "--root", "0,0,0", "--bytes", "1e6")
    yield "sizes", json_of(*one, "--op", "all-gather", "--bytes", "1e6:4e6:x2")
    yield "topology", json_of("topology", "--chip", "v4p", "--slice", "4x4x8", "--twisted")
    module = SOURCE / "scenarios/examples/fsdp-mlp.hlo"
    yield "hlo_stats", json_of("hlo", "stats", module)
    yield "hlo_run", json_of("hlo", "run", module, "--chip", "v5p", "--slice", "4x4x4")
    yield "comparison", json_of("compare", SOURCE / "scenarios/book/sec6-4pods.yaml", gather, server)
    yield "serving", json_of("serve", server)
    yield "serving", json_of("serve", server, "--requests", "--set", "report={price: 1 USD/chip-hour}")
    # All are there from the start: nothing is offered a second.
    yield "serving", json_of("serve", server, "--set", "serving.concurrency=2")
    space = ["search", small, "--over", "mesh,remat"]
    yield "search", json_of(*space)
    yield "search", json_of(*space, "--no-explain", "--set", "report={tokens: 1T, price: 1 USD/chip-hour}")
    yield "diff", json_of("diff", small, "--set-b", "training.remat=none")
    yield "diff", json_of("diff", small, small)
    yield "show", json_of("show", small, "--set", "training.remat=none")
    yield "estimate", json_of("estimate", small)
    yield "check", json_of("check", small, gather, server)
    maxtext = ["import", "maxtext", SOURCE / "tests/scenarios/import/maxtext/base-2025.yml", "model_name=llama3.1-70b"]
    yield "import_maxtext", json_of(*maxtext, "compile_topology=v6e-128")
    published = SOURCE / "scenarios/published"
    yield "calibration", json_of("calibrate", published / "microbenchmarks")
    yield "calibration", json_of("calibrate", published / "maxtext-v4", published / "maxtext-v5p")
    config = files / "config.json"
    config.write_text(json.dumps({
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 128256, "rope_theta": 500000.0, "of_my_own": 1,
    }))
    yield "import_hf", json_of("import", "hf", config)
    for catalogue in "chips", "models", "scenarios", "algorithms", "remat":
        yield "list", json_of("list", catalogue)
    yield "list", json_of("list", "chips", "trillium")
    for more in [], ["--gap", "--timings"]:
        lines = podsim("sweep", small, "--vary", "batch.tokens=32Ki,3Ki", "--jsonl", "-", *more)
        for line in lines.stdout.splitlines():
            yield "sweep_line", json.loads(line)


def test_every_kind_of_document(files: Any) -> None:
    seen = set()
    for kind, document in documents(files):
        assert faults(kind, document) == []
        assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(document)) == []
        seen.add(kind)
    assert seen == {name["$ref"].rsplit("/", 1)[1] for name in SCHEMA["anyOf"]}


def test_a_key_that_is_not_there_or_new_is_a_fault(files: Any) -> None:
    step = json_of("run", files / "small.yaml")
    assert faults("step", {**step, "gap": {}}) == ["[]: Unevaluated properties are not allowed ('gap' was unexpected)"]
    del step["step_time_s"]
    assert faults("step", step)[0] == "[]: 'step_time_s' is a required property"


# What has no unit: counts, and what the field knows by its name (MFU) or compares with an equal.
COUNTS = re.compile(
    r"(^|_)(chips|slices|hosts|cores|members|links|hops|events|parameters|tokens|sequence|stages?|microbatches|layers|steps|slots|"
    r"requests|seed|count|pages|running|preemptions|buckets|samples|system|index|of|queue|mean|most|arrival|limit|prompt|output|"
    r"references|differ|days|hours|off|load|loads|decode|server|enumerated|refused|unfit|pruned|pruned_while_simulated|left_to_others|not_looked_at|not_outlined|not_bounded|not_listed|simulated|"
    r"matmuls|pairs|calls|permutes|all_to_alls|all_reduce|copies|conditionals|runs|iterations|line|out|operations|pass|"
    r"devices|rows|opcodes|passes|place|header|bf16|dimensions|d_model|d_ff|heads|head_dim|vocabulary)$"
)
RATIOS = {
    "fraction", "mfu", "hfu", "bound_over_simulated", "attention_over_mean", "expert_tokens_over_mean", "compute_over_mean", "error", "within",
    "reference", "analytic", "simulated", "mean_error", "largest_error", "mean_absolute", "bias", "worst", "book", "roofline_lower",
    "roofline_serial", "value", "prior", "from_own_profile", "like", "unlike", "dense_from", "experts_from", "covered", "four_of_five",
    "mean_absolute_error", "held_out_mean_absolute_error", "held_out_by_family_mean_absolute_error", "pairs_right", "start_difference",
}
UNITS = re.compile(r"(_s|_bytes|bytes|_fractions?|_per_s(_chip)?|_per_s_per_chip|_per_s_per_device|_usd|_flops|^flops|_fraction_by)$")


# Chips, and numbers of them.
PLACES = {"from", "to", "root", "shift", "mesh_sizes"}


def numeric_keys(schema: Any, key: str = "") -> Iterator[str]:
    types = schema.get("type", [])
    if {"number", "integer"} & set([types] if isinstance(types, str) else types):
        yield key
    for name, value in schema.get("properties", {}).items():
        if name not in PLACES and not UNITS.search(key):  # a map's key says the unit of all it holds
            yield from numeric_keys(value, name)
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from numeric_keys(schema[inner], key)


def test_keys_say_their_units() -> None:
    # What these hold has the unit of the key that refers to them.
    maps = {"seconds", "diff_terms"}
    keys = {k for name, d in SCHEMA["$defs"].items() if name not in maps for k in numeric_keys(d)}
    of_terms = {k for k, d in SCHEMA["$defs"]["diff"]["properties"].items() if d.get("$ref") == "#/$defs/diff_terms"}
    assert len(of_terms) == 6 and all(UNITS.search(k) for k in of_terms)
    assert len(keys) > 100
    assert [k for k in sorted(keys) if not (UNITS.search(k) or COUNTS.search(k) or k in RATIOS)] == []


SCENARIOS = sorted((SOURCE / "scenarios").rglob("*.yaml"))


def test_every_scenario_is_as_the_schema_of_scenarios_says() -> None:
    check = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/scenario.schema.json").read_text()))
    assert len(SCENARIOS) > 200
    for file in SCENARIOS:
        assert [f"{file}: {list(e.path)}: {e.message}" for e in check.iter_errors(yaml.safe_load(file.read_text()))] == []


@pytest.mark.parametrize(
    "text",
    [
        "model: llama-3-8b",
        "hardware: {chip: v5p, slice: 4x4x4}\ntrainng: {}",
        "hardware: {chip: v5p, slice: 4x4x4}\ntraining: {remat: fulll}",
        "hardware: {chip: v5p, slice: 4x4x4, slices: many}",
        "hardware: {chip: v5p, slice: 4x4x4, message_cap: 4}",
    ],
)
def test_what_is_wrong_is_against_the_schema_of_scenarios(text: str) -> None:
    check = jsonschema.Draft202012Validator(json.loads((SOURCE / "docs/scenario.schema.json").read_text()))
    assert not check.is_valid(yaml.safe_load(text))
