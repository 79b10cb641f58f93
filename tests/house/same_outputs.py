#!/usr/bin/env python3
"""Holds what a program prints against what an earlier one printed, byte for byte.

    tests/house/same_outputs.py store build/release/podsim DIR [--random 560]
    tests/house/same_outputs.py compare build/release/podsim DIR [--rename OLD=NEW]... [--ignore KEY]...

`store` copies the scenarios into DIR, writes random ones beside them (of a fixed seed), runs every command of
`commands` there and keeps standard output, standard error and the exit status. `compare` runs the same commands with
another program and prints what differs. Wall times are masked. A redesign that must change nothing outside stores
before its first move and compares after each; --rename and --ignore name the JSON keys that are meant to differ, --except
the commands.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
WALL = [(re.compile(r"[0-9.]+(e-?[0-9]+)? s wall time"), "# s wall time"),
        (re.compile(r'("?wall_time_s"?: ?)[-0-9.e+]+'), r"\1#")]


# ---------------------------------------------------------------- random scenarios

CHIPS = {
    "v5p": ["4x4x4", "4x4x8", "2x2x4", "2x2x2"],
    "v4p": ["4x4x4", "4x4x8", "2x2x4"],
    "v5e": ["4x4", "4x8", "2x4", "16x4"],
    "v6e": ["4x4", "4x8", "2x4"],
}


def random_mesh(draw, shape, expert, slices):
    """Every physical axis goes whole to one logical axis, or is split into a block and its strides."""
    mesh = {}
    tensor = 1
    names = ["data", "fsdp", "fsdp", "context", "tensor", "pipeline"] + (["expert"] * 2 if expert else [])
    names += ["tensor_transpose"] if draw.random() < 0.15 else []

    def give(name, factor):
        mesh.setdefault(name, []).append(factor)

    for axis, length in zip("xyz", shape):
        if length == 1:
            continue
        split = length >= 4 and draw.random() < 0.5
        inner, outer = draw.choice(names), draw.choice(names[:4])
        ways = 2 if split else length
        if inner.startswith("tensor") and tensor * ways > 4:
            inner = "fsdp"
        if inner.startswith("tensor"):
            tensor *= ways
        if split and inner != outer:
            give(inner, f"{axis}%2")
            give(outer, f"{axis}/2")
        else:
            give(inner, axis)
    if slices > 1:
        give(draw.choice(["data", "data", "fsdp", "pipeline"]), "slice")
    return mesh


def ways_of(mesh, shape, slices):
    """Members of every logical axis."""
    lengths = dict(zip("xyz", shape)) | {"slice": slices}
    ways = {}
    for name, factors in mesh.items():
        ways[name] = 1
        for factor in factors:
            axis, mark, by = factor.partition("%") if "%" in factor else factor.partition("/")
            length = lengths[axis]
            ways[name] *= int(by) if mark == "%" else length // int(by) if mark == "/" else length
    return ways


def random_model(draw, layers, expert, whole_heads):
    keys = {"layers": layers, "d_model": 512, "d_ff": 2048, "heads": 8,
            "kv_heads": 8 if whole_heads else draw.choice([1, 2, 4, 8]), "head_dim": 64, "vocabulary": 4096}

    def maybe(share, key, *values):
        if draw.random() < share:
            keys[key] = draw.choice(values)

    maybe(0.3, "mlp", "plain")
    maybe(0.3, "tied_embeddings", "true")
    maybe(0.15, "parallel_block", "true")
    maybe(0.2, "norm", "layer")
    maybe(0.2, "qk_norm", "true")
    maybe(0.2, "biases", "qkv", "attention", "all")
    maybe(0.1, "positions", 2048)
    maybe(0.2, "window", 256, 512)
    if "window" in keys:
        maybe(0.5, "global_every", 2, 3)
    if expert:
        keys.pop("parallel_block", None)
        if keys.get("biases") == "all":
            del keys["biases"]
        keys["experts"] = "{count: 8, per_token: 2, d_ff: 512" + draw.choice(["", ", shared: 1"]) + "}"
    elif draw.random() < 0.1 and "window" not in keys:
        keys["kv_heads"] = 8
        keys["latent"] = "{q_rank: 256, kv_rank: 128, rope_dim: 32, value_dim: 64}"
    return "{" + ", ".join(f"{k}: {v}" for k, v in keys.items()) + "}"


def random_scenario(draw, number):
    chip = draw.choice(list(CHIPS))
    shape = draw.choice(CHIPS[chip])
    slices = draw.choice([1, 1, 1, 1, 2, 3, 4])
    expert = draw.random() < 0.25
    lengths = [int(length) for length in shape.split("x")]
    mesh = random_mesh(draw, lengths, expert, slices)
    ways = ways_of(mesh, lengths, slices)
    pipeline, context = ways.get("pipeline", 1), ways.get("context", 1)
    # What is not legal is kept now and then: refusals are outputs, too.
    legal = draw.random() < 0.95
    layers = pipeline * draw.choice([1, 2, 3, 4]) if legal else draw.choice([1, 2, 3, 4, 5, 8])
    model = random_model(draw, layers, expert, legal and draw.random() < 0.7)
    hardware = [f"chip: {chip}", f"slice: {shape}"]
    if slices > 1:
        hardware.append(f"slices: {slices}")

    def option(into, share, text):
        if draw.random() < share:
            into.append(text)

    option(hardware, 0.5, "profile: ideal")
    option(hardware, 0.15, "latency: floor")
    option(hardware, 0.15, "message_cap: " + draw.choice(["64 KiB", "1 MiB"]))
    option(hardware, 0.1, "ici_rates: vendor")
    sequence = draw.choice([512, 1024, 2048])
    shards = ways.get("data", 1) * ways.get("fsdp", 1) * ways.get("expert", 1)
    microbatches = draw.choice([1, 1, 1, 2, 3, 4, 8])
    tokens = sequence * (shards * microbatches * draw.choice([1, 1, 2, 3]) if legal else draw.choice([1, 8, 64, 192]))
    training, overlap = [], []
    option(training, 0.8, "remat: " + draw.choice(
        ["none", "matmuls", "block", "full", "{save: [qkv_proj, out_proj]}", "{save: [qkv_proj], offload: [out_proj]}",
         "{offload: [decoder_layer_input]}"]))
    if microbatches > 1:
        training.append(f"microbatches: {microbatches}")
    schedule = draw.choice(["gpipe", "1f1b", "zero_bubble", "interleaved"])
    if pipeline > 1 or not legal:
        training.append("schedule: " + schedule)
        if schedule == "interleaved" and layers % (2 * pipeline) == 0:
            training.append("chunks: 2")
    option(training, 0.2, "precision: int8")
    option(training, 0.3, "parameters: fp32")
    option(training, 0.3, "gradients: fp32")
    if ways.get("data", 1) > 1 or not legal:
        option(training, 0.4, "zero: " + str(draw.choice([1, 2])))
    option(training, 0.1, "optimizer: sgd")
    option(training, 0.15, "attention: full")
    if context > 1 and "attention: full" not in training or not legal:
        option(training, 0.25, "placement: plain")
    option(training, 0.1, "parts: layers")
    option(training, 0.05, "step: evaluate")
    if expert and ways.get("expert", 1) > 1:
        option(training, 0.3, "capacity_factor: 1.25")
        option(training, 0.2, "expert_imbalance: {distribution: lognormal, spread: 50 %, seed: 3}")
    weights = draw.choice(["layer", "block", "matmul"])
    option(overlap, 0.5, "prefetch_layers: " + str(draw.choice([0, 1, 2] + ([] if weights == "layer" else [0.5]))))
    overlap.append("weights: " + weights)
    option(overlap, 0.3, "layers: loop")
    option(overlap, 0.3, "reductions_in_flight: " + str(draw.choice([1, 2, 3])))
    option(overlap, 0.15, "bucket: " + draw.choice(["1 MB", "20 MB"]))
    option(overlap, 0.2, "collectives_in_flight: " + str(draw.choice([1, 2])))
    option(overlap, 0.15, "priority: [gradients, weights, tensor]")
    option(overlap, 0.3, "tensor: " + draw.choice(["one-way", "two-way"]))
    option(overlap, 0.3, "context: ring")
    lines = [f"name: random {number}", "hardware: {" + ", ".join(hardware) + "}", "model: " + model,
             f"batch: {{tokens: {tokens}, sequence: {sequence}}}"]
    lines.append("mesh: {" + ", ".join(f"{name}: {' '.join(factors)}" for name, factors in mesh.items()) + "}")
    if training:
        lines.append("training: {" + ", ".join(training) + "}")
    if overlap:
        lines.append("overlap: {" + ", ".join(overlap) + "}")
    if draw.random() < 0.1:
        lines.append("perturb: [" + draw.choice(
            ["{kind: slow_chips, x: 1, factor: 1.1}", "{kind: slow_link, x: 0, link: +x, rate: 50 %}",
             "{kind: random_chips, spread: 2 %, seed: 5}"]) + "]")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- what is run


def commands(folder, most_random):
    """Command lines relative to the folder of the store."""
    scenarios = sorted(p.relative_to(folder) for p in folder.glob("scenarios/**/*.yaml"))
    lists = [["run", str(path)] for path in scenarios]
    lists += [["run", str(path), "--json", "-"] for path in scenarios]
    lists += [["run", f"random/{i}.yaml", "--json", "-"] for i in range(most_random)]
    lists += [["run", f"random/{i}.yaml"] for i in range(0, most_random, 8)]
    lists += [["run", f"random/{i}.yaml", "--fold", "off", "--no-reuse", "--json", "-"]
              for i in range(3, most_random, 40)]
    quickstart = "scenarios/quickstart/llama3-70b-v5p-pod.yaml"
    pipeline = "scenarios/examples/llama3-405b-pipeline-slices.yaml"
    lists += [["run", quickstart, "--what-if"], ["run", quickstart, "--what-if", "--json", "-"],
              ["run", pipeline, "--what-if", "--json", "-"], ["run", quickstart, "--trace", "/dev/stdout"],
              ["compare", "scenarios/book"], ["compare", "scenarios/published"],
              ["compare", "scenarios/book", "--json", "-"], ["compare", "scenarios/published", "--json", "-"]]
    sweep = ["sweep", "scenarios/examples/llama3-8b-fsdp-v5p.yaml", "--vary", "batch.tokens=256Ki,512Ki,1Mi",
             "--vary", "training.remat=none,block", "--vary", "overlap.prefetch_layers=0,1"]
    lists += [sweep, sweep + ["--csv", "/dev/stdout"], sweep + ["--sort", "mfu:desc"]]
    for chip, shape, extra in [("v5p", "16x20x28", []), ("v5p", "4x4x8", ["--twisted"]), ("v5e", "16x16", []),
                               ("v4p", "2x2x4", []), ("v5e", "8x4", [])]:
        place = ["--chip", chip, "--slice", shape, *extra]
        lists += [["topology", *place], ["topology", *place, "--json", "-"]]
        axes = "xyz"[:shape.count("x") + 1]
        for op in ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"]:
            for size in ["1e4", "1e8"]:
                lists.append(["collective", *place, "--op", op, "--axes", axes, "--bytes", size])
            lists.append(["collective", *place, "--op", op, "--axes", "x", "--bytes", "1e7", "--json", "-"])
        lists.append(["collective", *place, "--op", "all-reduce", "--axes", axes, "--bytes", "1e3:1e8"])
    small = ["--chip", "v5p", "--slice", "4x4x4"]
    for op, ends in [("permute", ["--shift", "5"]), ("send", ["--from", "0,0,0", "--to", "2,1,3"]),
                     ("broadcast", ["--root", "0,0,0"]), ("gather", ["--root", "1,2,3"]),
                     ("scatter", ["--root", "0,0,0"])]:
        # A send is between two chips of the slice, whatever the group.
        axes = [] if op == "send" else ["--axes", "xyz"]
        lists += [["collective", *small, "--op", op, *axes, *ends, "--bytes", "1e8", *out]
                  for out in ([], ["--json", "-"])]
    lists += [["list", what] for what in ["chips", "models", "scenarios", "algorithms"]]
    lists += [[command, "--help"] for command in ["run", "compare", "collective", "topology", "list", "sweep",
                                                  "calibrate"]]
    lists += [["--help"], ["runn"], ["run"], ["run", "nowhere.yaml"], ["run", quickstart, "--sett"],
              ["run", quickstart, "--set", "hardware.slice=5x5x5"], ["run", quickstart, "--set", "mesh.tensr=x"],
              ["collective", *small, "--op", "all-gather", "--axes", "w", "--bytes", "1e9"],
              ["topology", "--chip", "v7", "--slice", "4x4"]]
    return lists


def masked(text):
    for pattern, instead in WALL:
        text = pattern.sub(instead, text)
    return text


def run(program, folder, arguments):
    done = subprocess.run([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "COLUMNS": "100"}, text=True, errors="replace", timeout=900)
    return {"arguments": arguments, "status": done.returncode, "out": masked(done.stdout), "err": masked(done.stderr)}


def run_all(program, folder, lists):
    # Fewer processes than cores would leave some idle while a long one runs; more would only share them.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda arguments: run(program, folder, arguments), lists))


# ---------------------------------------------------------------- store and compare


def store(program, folder, most_random):
    folder.mkdir(parents=True)
    shutil.copytree(TOP / "scenarios", folder / "scenarios",
                    ignore=lambda _, names: [n for n in names if n.endswith((".h", ".cpp", "CMakeLists.txt"))])
    (folder / "random").mkdir()
    draw = random.Random(20261122)
    for number in range(most_random):
        (folder / "random" / f"{number}.yaml").write_text(random_scenario(draw, number))
    lists = commands(folder, most_random)
    outputs = run_all(program, folder, lists)
    (folder / "outputs.json").write_text(json.dumps(outputs, indent=1))
    simulated = sum(o["status"] == 0 for o in outputs if o["arguments"][-1] == "-" and
                    o["arguments"][1].startswith("random/"))
    print(f"{len(outputs)} outputs kept; {simulated} random scenarios ran, the others were refused")


def without(value, ignored):
    if isinstance(value, dict):
        return {key: without(of, ignored) for key, of in value.items() if key not in ignored}
    return [without(item, ignored) for item in value] if isinstance(value, list) else value


def comparable(text, renamed, ignored):
    for old, new in renamed:
        text = text.replace(old, new)
    if ignored and text.lstrip().startswith("{"):
        text = json.dumps(without(json.loads(text.replace(": #", ": 0")), ignored), indent=2)
    return text


def compare(program, folder, renamed, ignored, only, left_out):
    before = [o for o in json.loads((folder / "outputs.json").read_text())
              if (only is None or re.search(only, " ".join(o["arguments"])))
              and not any(re.search(one, " ".join(o["arguments"])) for one in left_out)]
    after = run_all(program, folder, [output["arguments"] for output in before])
    different = 0
    for old, new in zip(before, after):
        parts = []
        for part in ("status", "out", "err"):
            a = comparable(str(old[part]), renamed, ignored)
            b = comparable(str(new[part]), [], ignored)
            if a != b:
                lines = difflib.unified_diff(a.splitlines(), b.splitlines(), "before", "after", "", "", 0, "")
                parts.append(part + ":\n" + "\n".join(list(lines)[2:14]))
        if parts:
            different += 1
            if different <= 20:
                print("podsim", " ".join(old["arguments"]), "\n" + "\n".join(parts) + "\n")
    print(f"{len(before)} outputs, {different} differ")
    return different == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["store", "compare"])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=560, help="random scenarios to store")
    parser.add_argument("--rename", action="append", default=[], help="OLD=NEW: text that is meant to differ")
    parser.add_argument("--ignore", action="append", default=[], help="a JSON key that is meant to differ")
    parser.add_argument("--except", dest="left_out", action="append", default=[],
                        help="a regular expression over the command lines whose outputs are meant to differ")
    parser.add_argument("--only", help="a regular expression over the command lines")
    options = parser.parse_args()
    program = str(options.program.resolve())
    if options.what == "store":
        store(program, options.folder, options.random)
        return 0
    renamed = [tuple(text.split("=", 1)) for text in options.rename]
    return 0 if compare(program, options.folder, renamed, options.ignore, options.only,
                        options.left_out) else 1


if __name__ == "__main__":
    sys.exit(main())
