#include "scenarios/yaml/schema.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/spec/quantity_names.h"
#include "scenarios/text/quote.h"
#include "scenarios/text/table.h"
#include "sim/base/nearest.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kRequired = "required";

/// Of an axis, whose name ends the path: what the table of axes says of it.
constexpr KeySpec mesh_key(std::string_view path) {
    const workloads::PlanAxis& axis = *workloads::find_axis(path.substr(path.find('.') + 1));
    return {path, kText, axis.example, "1", axis.meaning};
}

/// Every key but those of `expect`, which are the quantities that a result is held to.
// clang-format off
constexpr KeySpec kKeys[] = {
    {"name", kText, "text", "the file's name", "title of the reports"},

    {"hardware", kMap, "{chip: v5p, slice: 4x4x4}", kRequired, "the machine"},
    {"hardware.chip", kText | kMap, "v5p", kRequired, "a chip of `podsim list chips`, or a map that changes one"},
    {"hardware.chip.base", kText, "v5p", kRequired, "the catalogue chip that the other keys change"},
    {"hardware.chip.name", kText, "text", "`<base> (modified)`", "name in the reports"},
    {"hardware.chip.bf16_flops", kText, "459 TFLOP/s", "of the base", "peak rate of bf16 matmuls"},
    {"hardware.chip.int8_ops", kText, "918 TOP/s", "of the base", "peak rate of int8 matmuls"},
    {"hardware.chip.fp8_flops", kText, "918 TFLOP/s", "of the base", "peak rate of fp8 matmuls, where the chip has them"},
    {"hardware.chip.vpu_flops", kText, "14 TFLOP/s", "of the base", "elementwise operations of the vector units"},
    {"hardware.chip.vmem", kText, "128 MiB", "of the base", "VMEM of all cores; attention's blocks follow from it"},
    {"hardware.chip.mxu", kText, "128", "of the base", "rows and columns of a systolic array; dimensions pad to it"},
    {"hardware.chip.hbm_capacity", kText, "96 GB", "of the base", "memory of a chip"},
    {"hardware.chip.hbm_bandwidth", kText, "2.8 TB/s", "of the base", "rate of that memory"},
    {"hardware.chip.ici_one_way", kText, "90 GB/s", "of the base", "rate of an ICI link, one direction"},
    {"hardware.chip.ici_latency", kText, "1 us", "of the base", "latency of one ICI hop"},
    {"hardware.chip.pcie_one_way", kText, "16 GB/s", "of the base", "chip to host, each way"},
    {"hardware.chip.pcie_latency", kText, "1 us", "of the base", "latency of PCIe"},
    {"hardware.chip.dcn_per_host", kText, "25 GB/s", "of the base", "host to the data-centre network, each way"},
    {"hardware.chip.dcn_latency", kText, "10 us", "of the base", "latency of that network"},
    {"hardware.chip.host", kText, "2x2x1", "of the base", "chips of one host"},
    {"hardware.chip.pod", kText, "16x20x28", "of the base", "the largest slice"},
    {"hardware.chip.wraparound", kText, "every_axis", "of the base",
     "which axes wrap: full_pod, cubes_of_4, length_of_16, every_axis, never"},
    {"hardware.slice", kText, "16x20x28", kRequired, "chips along x, y, z; at most 100000 in all"},
    {"hardware.slices", kText, "4", "1", "number of slices, joined by the data-centre network"},
    {"hardware.oversubscription", kText, "2", "1", "of that network: a host's share is its rate divided by this"},
    {"hardware.twisted", kText, "false", "false", "a twisted torus (k x k x 2k, k x 2k x 2k)"},
    {"hardware.profile", kText | kMap, "ideal", "measured where the chip was",
     "what of the ideal rates is reached: measured (docs/fidelity.md; measured@1: an older version), ideal, a profile's file, or a map of factors"},
    {"hardware.profile.base", kText, "v5p", kRequired, "the measured chip whose factors the other keys change, or ideal"},
    {"hardware.profile.mxu", kText, "0.8", "of the base", "share of the peak that a large matmul reaches"},
    {"hardware.profile.mxu_ramp", kText, "128", "of the base", "a matmul of smallest dimension d reaches d / (d + this) of that"},
    {"hardware.profile.attention", kText, "0.4", "of the base", "share of the peak that attention's dot products reach"},
    {"hardware.profile.vpu", kText, "1", "of the base", "share of the vector unit's rate"},
    {"hardware.profile.hbm", kText, "0.83", "of the base", "share of the HBM's bandwidth"},
    {"hardware.profile.fusion", kText, "0.5", "of the base", "share of elementwise time that hides beneath its matmul"},
    {"hardware.profile.ici", kText, "0.82", "of the base", "share of an ICI link's rate"},
    {"hardware.profile.dcn", kText, "0.9", "of the base", "share of a host's network rate"},
    {"hardware.profile.launch_s", kText, "2.3e-6", "of the base", "seconds before a collective's first byte moves"},
    {"hardware.profile.straggler", kText, "0.03", "of the base", "compute takes longer by this for each doubling of slices"},
    {"hardware.ici_rates", kText, "book", "book", "the ICI rates of the reference text or of the vendor: book, vendor"},
    {"hardware.latency", kText, "additive", "additive", "how latency adds to a message's time: additive, floor"},
    {"hardware.hbm", kText, "private", "shared", "whether kernels and messages share a chip's HBM: private (each has all of it), shared"},
    {"hardware.message_cap", kText, "4 MiB", "4 MiB", "longer transfers are cut into messages of at most this size"},

    {"model", kText | kMap, "llama-3-70b", kRequired, "a model of `podsim list models`, or a map of hyperparameters"},
    {"model.base", kText, "llama-3-70b", "none", "the catalogue model that the other keys change"},
    {"model.hf_config", kText, "path/config.json", "none", "a Hugging Face config, relative to the scenario"},
    {"model.name", kText, "text", "`custom`", "name in the reports"},
    {"model.layers", kText, "80", kRequired, "layers (L), at most 4096"},
    {"model.d_model", kText, "8192", kRequired, "model width (D)"},
    {"model.d_ff", kText, "28672", kRequired, "feed-forward width (F)"},
    {"model.heads", kText, "64", kRequired, "query heads (N)"},
    {"model.kv_heads", kText, "8", "heads", "key and value heads (K)"},
    {"model.head_dim", kText, "128", "d_model / heads", "width of a head (H)"},
    {"model.vocabulary", kText, "128256", kRequired, "vocabulary (V)"},
    {"model.mlp", kText, "gated", "gated", "three MLP matrices or two: gated, plain"},
    {"model.tied_embeddings", kText, "false", "false", "one table for embedding and unembedding"},
    {"model.parallel_block", kText, "false", "false", "attention and MLP read the same normed input"},
    {"model.norm", kText, "rms", "rms", "a norm has a scale, or a scale and a bias: rms, layer"},
    {"model.norms", kText, "2", "2, 1 in a parallel block", "norms of width D in a layer"},
    {"model.qk_norm", kText, "false", "false", "queries and keys are normed"},
    {"model.biases", kText, "none", "none", "biases of projections: none, qkv, attention, all (the MLP's too)"},
    {"model.positions", kText, "2048", "0", "rows of a learned position table; 0: none"},
    {"model.window", kText, "4096", "0", "local attention: a query sees so many last keys; 0: all"},
    {"model.global_every", kText, "6", "0", "the last of every so many layers sees all keys; 0: none does"},
    {"model.latent", kMap, "{q_rank: 1536, kv_rank: 512, rope_dim: 64, value_dim: 128}", "none",
     "multi-head latent attention; head_dim is then that of queries and keys"},
    {"model.latent.q_rank", kText, "1536", "0", "rank of the queries; 0: projected directly"},
    {"model.latent.kv_rank", kText, "512", kRequired, "rank of keys and values"},
    {"model.latent.rope_dim", kText, "64", "0", "columns of a key that all heads share"},
    {"model.latent.value_dim", kText, "128", "head_dim", "width of a head's values"},
    {"model.experts", kMap, "{count: 8, per_token: 2, d_ff: 14336}", "none", "layers whose MLP is experts"},
    {"model.experts.count", kText, "8", kRequired, "routed experts of a layer"},
    {"model.experts.per_token", kText, "2", kRequired, "routed experts that a token takes"},
    {"model.experts.shared", kText, "1", "0", "experts that every token takes"},
    {"model.experts.d_ff", kText, "14336", "d_ff", "feed-forward width of one expert"},
    {"model.experts.first_dense", kText, "3", "0", "layers at the start with the dense MLP"},
    {"model.experts.every", kText, "1", "1", "behind them, the last of every so many layers has experts"},
    {"model.experts.router_bias", kText, "false", "false", "the router has a bias for every expert"},

    {"batch", kMap, "{tokens: 4Mi, sequence: 4096}", kRequired, "the global batch of a step"},
    {"batch.tokens", kText, "4Mi", kRequired, "tokens of the batch, a multiple of the sequence"},
    {"batch.sequence", kText, "4096", kRequired, "tokens of a sequence"},

    {"mesh", kMap, "{fsdp: x y, tensor: z}", "fsdp over every axis",
     "logical axes: physical axes and factors (`x%4`: 4 neighbours, `x/4`: the rest), or sizes alone"},
    mesh_key("mesh.data"),
    mesh_key("mesh.fsdp"),
    mesh_key("mesh.context"),
    mesh_key("mesh.tensor"),
    mesh_key("mesh.tensor_transpose"),
    mesh_key("mesh.pipeline"),
    mesh_key("mesh.expert"),

    {"mesh_mapping", kText, "jax", "podsim",
     "how sizes alone are mapped to axes: podsim, jax (create_device_mesh), jax_split (may split axes)"},

    {"training", kMap, "{remat: full}", "all defaults", "how the step computes"},
    {"training.precision", kText, "bf16", "bf16", "matmuls of projections and MLPs: bf16, int8, fp8 where the chip has them"},
    {"training.parameters", kText, "fp32", "bf16", "parameters as stored, the master weights: bf16, fp32"},
    {"training.gradients", kText, "bf16", "bf16", "gradients as stored and reduced: bf16, fp32"},
    {"training.zero", kText, "1", "0", "what data parallelism shards: 0 nothing, 1 the optimizer's state, 2 gradients too"},
    {"training.optimizer", kText, "adam", "adam", "adam (two moments), sgd"},
    {"training.moments", kText, "bf16", "fp32", "Adam's moments: bf16, fp32"},
    {"training.remat", kText | kMap, "full", "full",
     "what the backward pass recomputes: a policy of `podsim list remat`; or what is kept, by name"},
    {"training.remat.save", kText | kList, "[qkv_proj, out_proj]", "[]",
     "kept in HBM: decoder_layer_input (always kept), qkv_proj, attention_out, out_proj, mlp_gate_up, mlp_hidden, mlp_out"},
    {"training.remat.offload", kText | kList, "[decoder_layer_input]", "[]",
     "kept in the host's memory, there and back over PCIe: the same names"},
    {"training.step", kText, "train", "train", "train, or evaluate: the forward pass and the loss alone"},
    {"training.microbatches", kText, "8", "1", "parts of the batch, one after the other; gradients add up over them"},
    {"training.schedule", kText, "1f1b", "1f1b", "of a pipeline: gpipe, 1f1b, interleaved, zero_bubble (ZB-H1)"},
    {"training.chunks", kText, "2", "1", "interleaved: runs of layers that each stage has"},
    {"training.parts", kText, "layers", "all", "all, or layers: no embedding, unembedding, loss and optimizer"},
    {"training.capacity_factor", kText, "1.25", "1", "tokens that every expert is padded to, over the mean"},
    {"training.expert_imbalance", kText | kList | kMap, "[4, 2, 1, 1]", "1",
     "tokens of the most loaded experts over the mean, done by all (1.2), or what each rank of expert takes, listed or drawn"},
    {"training.expert_imbalance.distribution", kText, "lognormal", kRequired, "of the experts' tokens: lognormal"},
    {"training.expert_imbalance.spread", kText, "50 %", kRequired, "deviation of the logarithm of an expert's tokens"},
    {"training.expert_imbalance.seed", kText, "1", "1", "of the draw"},
    {"training.attention", kText, "causal", "causal", "causal (masked half skipped), full"},
    {"training.placement", kText, "plain", "zig-zag",
     "parts of a sequence on context, causal: zig-zag (equal work), plain (contiguous; the last rank has most)"},

    {"overlap", kMap, "{prefetch_layers: 1}", "all defaults", "what runs beside the compute stream"},
    {"overlap.weights", kText, "matmul", "layer",
     "what is gathered, and its gradients reduced, in one piece: layer, block (attention, MLP), matmul (each matrix)"},
    {"overlap.layers", kText, "loop", "unrolled",
     "unrolled (gathers and reductions run on into other layers), loop (each layer's begin and end with it, as in a scan)"},
    {"overlap.prefetch_layers", kText, "1", "1",
     "layers that weight gathers may run ahead, memory permitting; of block and matmul also parts, 0.5"},
    {"overlap.reductions_in_flight", kText, "2", "2", "gradient reductions that may be pending"},
    {"overlap.bucket", kText, "100 MB", "one group", "gradients are reduced in buckets of so many bytes"},
    {"overlap.collectives_in_flight", kText, "1", "no limit", "collectives that may run at once; 1: one after the other"},
    {"overlap.priority", kText | kList, "[tensor, weights, gradients]", "that order", "which collectives go first at a link"},
    {"overlap.tensor", kText, "two-way", "blocking",
     "tensor-parallel collectives: blocking, or as ring steps between parts of their matmul: one-way, two-way"},

    {"overlap.context", kText, "ring", "gathered",
     "keys and values of a split sequence: gathered before attention, or round a ring under it (ring attention)"},

    {"perturb", kList, "[{kind: slow_chips, x: 3, factor: 1.1}]", "[]",
     "what is not as it should be, at the coordinates named and all along the other axes"},
    {"perturb.kind", kText, "slow_chips", kRequired,
     "slow_chips, random_chips, slow_link, dead_link, slow_host, slow_dcn"},
    {"perturb.x", kText, "3", "all", "coordinate of the chip"},
    {"perturb.y", kText, "3", "all", "coordinate of the chip"},
    {"perturb.z", kText, "3", "all", "coordinate of the chip"},
    {"perturb.slice", kText, "1", "all", "the slice"},
    {"perturb.factor", kText, "1.1", kRequired, "slow_chips: compute takes so many times as long"},
    {"perturb.spread", kText, "2 %", kRequired, "random_chips: the slowdown's spread; a factor 1 + spread x |normal| a chip"},
    {"perturb.seed", kText, "1", "1", "random_chips: of the random numbers"},
    {"perturb.link", kText, "+x", kRequired, "slow_link, dead_link: the link from the chip along an axis: x (both ways), +x, -x"},
    {"perturb.rate", kText, "50 %", kRequired, "slow_link, slow_host (PCIe and DCN), slow_dcn: the share of the rate that is left"},

    {"program", kMap, "{pieces: 16, stages: [...]}", "none",
     "stages one after the other instead of a training step: no model, batch, mesh, training, overlap, report"},
    {"program.pieces", kText, "16", "1", "every stage in so many equal pieces, pipelined"},
    {"program.stages", kList, "[{do: all-gather, axes: xyz, bytes: 1 GB}]", kRequired, "what every chip goes through"},
    {"program.stages.do", kText, "all-gather", kRequired,
     "a collective of `podsim collective --help`, host-to-chip, chip-to-host, matmul, read-hbm"},
    {"program.stages.name", kText, "text", "what it does", "name in the reports"},
    {"program.stages.bytes", kText, "1 GB", kRequired, "of the array: of a group, or (PCIe, HBM) of all chips together"},
    {"program.stages.axes", kText, "xyz", kRequired, "of a collective: its group, as in `podsim collective`"},
    {"program.stages.algorithm", kText, "auto", "auto", "of a collective"},
    {"program.stages.root", kText, "0,0,0", kRequired, "of broadcast, gather, scatter: the chip"},
    {"program.stages.from", kText, "0,0,0", kRequired, "of send: the chip"},
    {"program.stages.to", kText, "3,3,0", kRequired, "of send: the chip"},
    {"program.stages.shift", kText, "1", "1", "of permute: ranks"},
    {"program.stages.m", kText, "8", kRequired, "of matmul: rows of the left operand; m x k by k x n"},
    {"program.stages.k", kText, "4096", kRequired, "of matmul: the inner dimension, which the pieces divide"},
    {"program.stages.n", kText, "4096", kRequired, "of matmul: columns of the right operand, the weights"},
    {"program.stages.weights", kText, "bf16", "bf16", "of matmul: elements of the k x n operand: int8, fp8, bf16, fp32"},
    {"program.stages.activations", kText, "bf16", "bf16", "of matmul: elements of the others"},
    {"program.stages.dtype", kText, "bf16", "bf16", "of matmul: which of the chip's rates: bf16, int8, fp8"},
    {"program.stages.gather", kMap, "{axes: y, overlap: two-way}", "none",
     "of matmul: an operand that a group gathers"},
    {"program.stages.gather.operand", kText, "activations", "activations", "which: activations (m x k), weights (k x n)"},
    {"program.stages.gather.split", kText, "k", "m or n", "the dimension along which the group's members hold it: k, or the operand's other"},
    {"program.stages.gather.axes", kText, "y", kRequired, "the group"},
    {"program.stages.gather.overlap", kText, "two-way", "blocking",
     "before the matmul, or as ring steps between its parts: blocking, one-way, two-way"},
    {"program.stages.at", kText, "0,0,0", "every chip", "of matmul: the one chip that does it"},

    {"evaluation", kMap, "{tokens: 1Mi, steps: 48, train_steps: 12}", "none",
     "blocks of evaluation steps (forward passes alone) after training steps"},
    {"evaluation.tokens", kText, "1Mi", kRequired, "tokens of one evaluation step, a multiple of the sequence"},
    {"evaluation.steps", kText, "48", kRequired, "evaluation steps of a block"},
    {"evaluation.train_steps", kText, "12", "1", "training steps of a block"},

    {"report", kMap, "{tokens: 15T}", "none", "what the report adds"},
    {"report.tokens", kText, "15T", "none", "token budget of the training run: days and chip-hours"},
    {"report.price", kText, "4.20 USD/chip-hour", "none", "price: cost of the training run"},
    {"report.flop_rule", kText, "6ND", "executed",
     "what MFU counts: executed (6 x matmul parameters + attention, half when causal); with all parameters 6ND "
     "(or parameters), masked_attention, full_attention"},
    {"report.mfu", kText, "40 %", "none", "that training_days of expect assumes"},
    {"report.parameters", kText, "70G", "the model's", "that formulas of expect count with, as texts round them"},

    {"expect", kMap, "{mfu: {within: 10 %, of: 45 %}}", "none", "values the result is held to; exit status 1 when one fails"},
    {"expect.*.within", kText, "10 %", kRequired, "allowed relative error"},
    {"expect.*.of", kText, "2.2 s", kRequired, "the reference value"},
    {"expect.*.source", kText, "text", "none", "where the value comes from"},
    {"expect.*.tier", kText, "A", "none", "of a published value: A, full configuration known; B, one material unknown or rounded"},
    {"expect.*.defines", kText, "hbm", "none", "the factor of a profile that this measurement isolates (`podsim calibrate`)"},
};
// clang-format on

/// The paths and forms of the keys of `expect`, a pair for each.
std::vector<std::pair<std::string, std::string>> texts_of_expect(
    std::span<const QuantityName> quantities) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const QuantityName& quantity : quantities) {
        texts.emplace_back(fmt::format("expect.{}", quantity.name),
                           fmt::format("{{within: {}, of: {}}}",
                                       quantity.analytic ? "1.5 %" : "10 %", quantity.example));
    }
    return texts;
}

const std::vector<KeySpec>& all_keys() {
    static const std::vector<QuantityName> quantities = expected_quantities();
    static const std::vector<std::pair<std::string, std::string>> texts =
        texts_of_expect(quantities);
    static const std::vector<KeySpec> keys = [] {
        std::vector<KeySpec> all;
        for (const KeySpec& key : kKeys) {
            all.push_back(key);
            for (std::size_t i = 0; key.path == "expect" && i < quantities.size(); ++i) {
                all.push_back(
                    {texts[i].first, kMap, texts[i].second, "none", quantities[i].meaning});
            }
        }
        return all;
    }();
    return keys;
}

/// Whether a pattern of the table stands for a path: segments equal, or `*` in the pattern.
bool matches(std::string_view pattern, std::string_view path) {
    for (;;) {
        const std::string_view a = pattern.substr(0, pattern.find('.'));
        const std::string_view b = path.substr(0, path.find('.'));
        if (a != b && a != "*") {
            return false;
        }
        const bool pattern_ends = a.size() == pattern.size();
        const bool path_ends = b.size() == path.size();
        if (pattern_ends || path_ends) {
            return pattern_ends && path_ends;
        }
        pattern.remove_prefix(a.size() + 1);
        path.remove_prefix(b.size() + 1);
    }
}

std::string_view parent(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string_view last(std::string_view path) {
    return path.substr(path.rfind('.') + 1);
}

unsigned mask_of(YamlNode::Kind kind) {
    switch (kind) {
        case YamlNode::Kind::null:
            return 0;
        case YamlNode::Kind::scalar:
            return kText;
        case YamlNode::Kind::sequence:
            return kList;
        case YamlNode::Kind::map:
            return kMap;
    }
    return 0;
}

void check_value(const KeySpec& key, const std::string& path, const YamlNode::Entry& entry) {
    const YamlNode& value = entry.value;
    if ((mask_of(value.kind) & key.accepts) != 0) {
        return;
    }
    throw sim::InputError(fmt::format("'{}' holds {}", path, describe(value.kind)),
                          fmt::format("write {}: {}", last(path), key.form),
                          value.kind == YamlNode::Kind::null ? entry.mark : value.mark);
}

void check_map(const YamlNode& map, const std::string& path) {
    for (const YamlNode::Entry& entry : map.entries) {
        const std::string child = path.empty() ? entry.key : path + '.' + entry.key;
        // A dot in a key must not reach into the table.
        const KeySpec* key = entry.key.find('.') == std::string::npos ? find_key(child) : nullptr;
        const std::vector<std::string> allowed = keys_of(path);
        if (key == nullptr) {
            throw sim::unknown_name(path.empty() ? "key" : path + " key", printable(entry.key),
                                    allowed)
                .at(entry.mark);
        }
        check_value(*key, child, entry);
        if (entry.value.kind == YamlNode::Kind::map) {
            check_map(entry.value, child);
        }
        for (const YamlNode& item : entry.value.items) {
            const bool text = item.kind == YamlNode::Kind::scalar && (key->accepts & kText) != 0;
            if (text) {
                continue;
            }
            if (item.kind != YamlNode::Kind::map) {
                throw sim::InputError(
                    fmt::format("an entry of '{}' is {}", child, describe(item.kind)),
                    fmt::format("write {}: {}", entry.key, key->form), item.mark);
            }
            check_map(item, child);
        }
    }
}

}  // namespace

std::span<const KeySpec> schema() {
    return all_keys();
}

const KeySpec* find_key(std::string_view path) {
    const auto found = std::ranges::find_if(
        all_keys(), [&](const KeySpec& key) { return matches(key.path, path); });
    return found == all_keys().end() ? nullptr : &*found;
}

std::vector<std::string> keys_of(std::string_view path) {
    std::vector<std::string> names;
    for (const KeySpec& key : all_keys()) {
        const std::string_view above = parent(key.path);
        const bool here = above.empty() || path.empty() ? above == path : matches(above, path);
        if (here) {
            names.emplace_back(last(key.path));
        }
    }
    return names;
}

void check_schema(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::map) {
        const std::string problem =
            root.kind == YamlNode::Kind::null
                ? "the file is empty"
                : fmt::format("the file holds {}, not a map of keys", describe(root.kind));
        throw sim::InputError(
            problem, fmt::format("a scenario has the keys {}", fmt::join(keys_of(""), ", ")),
            root.mark);
    }
    check_map(root, "");
}

std::string schema_help() {
    Table table({1, 2, 3});
    table.row({"key", "written", "default", "meaning"});
    for (const KeySpec& key : all_keys()) {
        const auto depth = static_cast<std::size_t>(std::ranges::count(key.path, '.'));
        table.row({std::string(2 * depth, ' ') + std::string(last(key.path)), std::string(key.form),
                   std::string(key.fallback), std::string(key.meaning)});
    }
    return table.text(2);
}

}  // namespace podsim::scenarios
