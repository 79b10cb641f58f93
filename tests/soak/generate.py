"""Draws whole scenarios: small steps with every kind of sharding, schedule and perturbation.

Most of them run. podsim must refuse those that contradict themselves, with a message, which is checked too.
"""

import math

CHIPS = {
    # Each chip has slices of at most 64 chips, small ones first.
    "v5p": ("2x2x1", "2x2x2", "2x2x4", "4x4x4", "2x4x4"),
    "v4": ("2x2x1", "2x2x2", "2x4x4", "4x4x4"),
    "tpu7x": ("2x2x1", "2x2x2", "2x2x4", "4x4x4"),
    "v5e": ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8"),
    "v6e": ("1x1", "2x2", "2x4", "4x4", "8x8"),
}
TWISTED = ("4x4x8",)  # offered on v4 and v5p
REMAT = ("full", "none", "matmuls", "block", "minimal", "minimal_flash", "minimal_offloaded", "save_qkv_proj",
         "save_dot_except_mlp", "qkv_proj_offloaded", {"save": ["qkv_proj"], "offload": ["decoder_layer_input"]})


def maybe(random, chance, into, key, *values):
    if random.random() < chance:
        into[key] = random.choice(values)


def model(random):
    """Returns a few layers whose widths the sizes of a mesh divide; at times with experts, windows, latent attention."""
    heads = random.choice((8, 16, 32))
    made = {
        "layers": random.choice((1, 2, 4, 8, 8)),
        "d_model": random.choice((512, 1024, 2048)),
        "d_ff": random.choice((1024, 2048, 8192)),
        "heads": heads,
        "kv_heads": random.choice((heads, heads // 2, heads // 4)),
        "head_dim": random.choice((64, 128)),
        "vocabulary": random.choice((8192, 32000, 128256)),
    }
    maybe(random, 0.1, made, "mlp", "plain")
    maybe(random, 0.1, made, "tied_embeddings", True)
    maybe(random, 0.1, made, "parallel_block", True)
    maybe(random, 0.1, made, "norm", "layer", "bare")
    maybe(random, 0.1, made, "qk_norm", True)
    maybe(random, 0.1, made, "biases", "qkv", "attention", "all")
    if random.random() < 0.15:
        made["window"] = random.choice((512, 1024))
        maybe(random, 0.5, made, "global_every", *range(1, made["layers"] + 1))
    maybe(random, 0.05, made, "shared_kv", True)
    maybe(random, 0.05, made, "v_norm", True)
    if "global_every" in made and random.random() < 0.5:
        made["global"] = {"head_dim": random.choice((64, 128, 256))}
        maybe(random, 0.7, made["global"], "kv_heads", heads // 8, heads // 2, heads)
        maybe(random, 0.5, made["global"], "shared_kv", True)
    if random.random() < 0.1:
        for key in ("global", "shared_kv", "v_norm"):
            made.pop(key, None)
        made["latent"] = {"kv_rank": 256, "rope_dim": 32, "value_dim": 64}
        made["kv_heads"] = heads
        maybe(random, 0.5, made["latent"], "q_rank", 256)
    if random.random() < 0.25:
        made["experts"] = {"count": random.choice((8, 16)), "per_token": random.choice((1, 2)),
                           "d_ff": random.choice((512, 1024))}
        maybe(random, 0.3, made["experts"], "shared", 1)
        made.pop("parallel_block", None)
        if made["layers"] > 2:
            maybe(random, 0.3, made["experts"], "first_dense", 1)
            maybe(random, 0.3, made["experts"], "every", 2)
    return made


def factors(random, lengths):
    """Returns the factors of the axes, each whole or cut in two, as (text, ways)."""
    pieces = []
    for axis, length in zip("xyz", lengths):
        if length == 1:
            continue
        near = random.choice([f for f in range(1, length + 1) if length % f == 0])
        if near in (1, length):
            pieces.append((axis, length))
        else:
            pieces += [(f"{axis}%{near}", near), (f"{axis}/{near}", length // near)]
    return pieces


def mesh(random, lengths, slices, experts):
    """Deals the factors out to parallelisms; returns the mesh, and the ways of each parallelism."""
    kinds = ["fsdp", "fsdp", "tensor", "data", "context", "pipeline"] + ["expert"] * (2 * experts)
    given = {}
    for text, ways in factors(random, lengths) + ([("slice", slices)] if slices > 1 else []):
        kind = random.choice(("data", "fsdp", "pipeline") if text == "slice" else kinds)
        given.setdefault(kind, []).append((text, ways))
    return ({kind: " ".join(text for text, _ in parts) for kind, parts in given.items()},
            {kind: math.prod(ways for _, ways in parts) for kind, parts in given.items()})


def overlap(random):
    made = {}
    maybe(random, 0.2, made, "weights", "layer", "block", "matmul")
    maybe(random, 0.1, made, "layers", "loop")
    maybe(random, 0.3, made, "prefetch_layers", 0, 1, 2)
    maybe(random, 0.1, made, "reductions_in_flight", 1, 2)
    maybe(random, 0.1, made, "bucket", "25 MB", "1 MB")
    maybe(random, 0.1, made, "collectives_in_flight", 1, 2)
    maybe(random, 0.25, made, "tensor", "one-way", "two-way")
    maybe(random, 0.1, made, "context", "ring")
    if random.random() < 0.2:
        made["schedule"] = "latency_hiding"
        maybe(random, 0.3, made, "async", {"all_gather": 1}, {"all_reduce": 0}, {"reduce_scatter": 2})
    return made


def training(random, ways, layers):
    made = {}
    maybe(random, 0.7, made, "remat", *REMAT)
    maybe(random, 0.15, made, "precision", "int8", "int8", "fp8")
    maybe(random, 0.1, made, "logits", "fp32")
    maybe(random, 0.1, made, "logit_chunks", 2, 4)
    maybe(random, 0.2, made, "parameters", "fp32")
    maybe(random, 0.2, made, "gradients", "fp32")
    maybe(random, 0.2, made, "optimizer", "lion", "adafactor", "sgd")
    if "optimizer" not in made:
        maybe(random, 0.2, made, "moments", "bf16", ["bf16", "fp32"])
    maybe(random, 0.2, made, "clip_gradients", True)
    maybe(random, 0.1, made, "step", "evaluate")
    maybe(random, 0.1, made, "attention", "full")
    maybe(random, 0.2, made, "attention_backward", "fused", "book")
    if ways.get("context", 1) > 1:
        maybe(random, 0.3, made, "placement", "plain")
    maybe(random, 0.1, made, "parts", "layers")
    if ways.get("data", 1) > 1:
        maybe(random, 0.3, made, "zero", 1, 2)
    if ways.get("pipeline", 1) > 1:
        maybe(random, 0.7, made, "microbatches", 2, 4, 8)
        maybe(random, 0.5, made, "schedule", "gpipe", "1f1b", "interleaved", "zero_bubble")
        if made.get("schedule") == "interleaved" and layers % (2 * ways["pipeline"]) == 0:
            made["chunks"] = 2
    else:
        maybe(random, 0.15, made, "microbatches", 2, 4)
    if made.get("zero") != 2:
        maybe(random, 0.3, made, "gradient_reduction", "each", "data_once", "once")
    return made


def perturbations(random, lengths, slices):
    """Returns perturbations of chips, links and hosts that exist."""
    def at():
        return {axis: random.randrange(length) for axis, length in zip("xyz", lengths) if random.random() < 0.7}
    long = [axis for axis, length in zip("xyz", lengths) if length > 1]
    kinds = [{"kind": "slow_chips", "factor": random.choice((1.1, 2)), **at()},
             {"kind": "random_chips", "spread": "5 %", "seed": random.randrange(1, 99)},
             {"kind": "slow_host", "rate": "50 %", **at()}]
    if long:
        kinds.append({"kind": "slow_link", "link": random.choice(("", "+", "-")) + random.choice(long), "rate": "25 %",
                      **at()})
        kinds.append({"kind": "dead_link", "link": random.choice(long), **at()})
    if slices > 1:
        kinds.append({"kind": "slow_dcn", "rate": "50 %", "slice": random.randrange(slices)})
    return random.sample(kinds, random.choice((1, 1, 2)))


def hardware(random):
    chip = random.choice(list(CHIPS))
    made = {"chip": chip, "slice": random.choice(CHIPS[chip])}
    if chip in ("v4", "v5p") and random.random() < 0.08:
        made |= {"slice": random.choice(TWISTED), "twisted": True}
    if random.random() < 0.15:
        made["slices"] = random.choice((2, 4))
        maybe(random, 0.3, made, "oversubscription", 2)
    maybe(random, 0.3, made, "profile", "ideal")
    maybe(random, 0.15, made, "core_clock", 0.9)
    maybe(random, 0.15, made, "ici_rates", "vendor")
    maybe(random, 0.15, made, "latency", "floor")
    maybe(random, 0.2, made, "hbm", "private")
    maybe(random, 0.1, made, "message_cap", "1 MiB", "256 KiB")
    return made


def inference(random, experts):
    made = {"step": random.choice(("prefill", "decode", "generate"))}
    if made["step"] != "decode":
        made["prompt"] = random.choice((512, 2048))
    if made["step"] == "generate":
        made["generate"] = random.choice((2, 8))
    if made["step"] == "decode":
        made["context"] = random.choice((512, 4096))
        maybe(random, 0.2, made, "draft", 2, 4)
    made["batch"] = random.choice((1, 8, 64))
    for key in ("weights", "kv_cache", "activations", "precision"):
        maybe(random, 0.2, made, key, "int8")
    maybe(random, 0.2, made, "scheduling", "async")
    if made["step"] != "decode" or "draft" in made:
        maybe(random, 0.3, made, "attention_blocks", {"q": 128, "kv": 1024}, {"q": 32, "kv": 256})
    if experts:
        maybe(random, 0.3, made, "moe", {"split": "experts"})
    return made


def scenario(random):
    machine = hardware(random)
    lengths = [int(length) for length in machine["slice"].split("x")]
    slices = machine.get("slices", 1)
    spec = model(random)
    axes, ways = mesh(random, lengths, slices, "experts" in spec)
    stages = ways.get("pipeline", 1)
    if stages > 1 and random.random() < 0.9:
        spec["layers"] = stages * random.choice((1, 2, 2, 4))
    made = {"name": "soak", "hardware": machine, "model": spec, "mesh": axes}
    if random.random() < 0.15:
        made["inference"] = inference(random, "experts" in spec)
    else:
        sequence = random.choice((1024, 2048, 4096))
        shards = math.prod(ways.get(kind, 1) for kind in ("data", "fsdp", "expert"))
        maybe(random, 0.15 if stages == 1 else 0.01, spec, "mtp_layers", 1, 2)
        made["training"] = training(random, ways, spec["layers"])
        each = made["training"].get("microbatches", 1) * random.choice((1, 1, 2))
        made["batch"] = {"tokens": sequence * shards * each, "sequence": sequence}
        made["overlap"] = overlap(random)
    if random.random() < 0.15:
        made["perturb"] = perturbations(random, lengths, slices)
    return made
