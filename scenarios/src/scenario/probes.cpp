#include "scenarios/src/scenario/probes.h"

#include <algorithm>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// A step of training, with every section that it can have.
constexpr const char* kTraining = R"(
hardware: {chip: {base: v5p}, slice: 4x4x4, profile: {base: v5p}}
model: {base: mixtral-8x7b}
batch: {tokens: 256Ki, sequence: 4096}
mesh: {fsdp: x y, expert: z}
training: {remat: {save: [qkv_proj], offload: [mlp_hidden]}, precision: int8, bf16_backward: [mlp],
  moe: {matmul: sparse, tile: [512, 1024, 1024], tiles: {down_drhs: [512, 768, 4096]}}, attention_blocks: {q: 512},
  expert_imbalance: {distribution: lognormal, spread: 50 %}}
overlap: {priority: [tensor, weights, gradients], schedule: latency_hiding, async: {all_gather: 1}}
perturb: [{kind: slow_chips, x: 0, y: 0, z: 0, slice: 0, factor: 1.1}, {kind: random_chips, spread: 2 %},
  {kind: slow_link, link: +x, rate: 50 %}]
evaluation: {tokens: 256Ki, steps: 4}
report: {tokens: 15T, price: 4 USD/chip-hour, mfu: 40 %, output_tokens: 512, checkpoints: 4, parameters: 70G}
expect: {mfu: {within: 10 %, of: 45 %}}
)";

/// A model by its widths, with latent attention.
constexpr const char* kModel = R"(
name: probe
hardware: {chip: v5p, slice: 4x4x4}
model: {layers: 2, d_model: 512, d_ff: 1024, heads: 4, vocabulary: 1024, biases: none,
  latent: {kv_rank: 128}, experts: {count: 4, per_token: 2}}
batch: {tokens: 256Ki, sequence: 4096}
training: {remat: full, attention_blocks: 512, expert_imbalance: 1.2}
)";

constexpr const char* kDense = R"(
hardware: {chip: v5p, slice: 4x4x4, profile: ideal}
model: llama-3-8b
batch: {tokens: 256Ki, sequence: 4096}
mesh: {data: 1, fsdp: 64, context: 1, tensor: 1, tensor_transpose: 1, cache: 1, pipeline: 1, expert: 1}
training: {attention_kernel: dot_product}
search: {over: [mesh]}
)";

constexpr const char* kConfig = R"(
hardware: {chip: v5p, slice: 4x4x4}
model: {hf_config: none.json}
batch: {tokens: 256Ki, sequence: 4096}
)";

constexpr const char* kDecode = R"(
hardware: {chip: v5e, slice: 4x4}
model: mixtral-8x7b
inference: {step: decode, batch: 32, context: 1024, moe: {split: experts, tile: [128, 1024, 1024]},
  expert_imbalance: {distribution: lognormal, spread: 50 %}}
)";

constexpr const char* kGenerate = R"(
hardware: {chip: v5e, slice: 4x4}
model: {base: gemma-3-12b, global: {head_dim: 512}}
inference: {step: generate, prompt: 128, generate: 8}
)";

constexpr const char* kRuns = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
inference: {step: decode, runs: [{sequences: 2, context: 128}]}
)";

constexpr const char* kServing = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
serving: {rate: 4 requests/s, requests: 10, prompt: {mean: 128, sigma: 0.5, most: 512},
  output: {mean: 64, sigma: 0.5, most: 128}, slots: 4, cache: {pages: 4096}, prefix: {share: 10 %},
  speculation: {tokens: 4, acceptance: 80 %}, objective: {first_token: 1 s, token: 50 ms},
  disaggregated: {rate: 25 GB/s}}
)";

constexpr const char* kServedProbe = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
inference: {kv_cache: int8, scheduling: async, attention_blocks: {q: 128, kv: 2048}}
serving: {concurrency: 4, requests: 10, prompt: {least: 16, most: 64}, output: {least: 16, most: 64}, slots: 4}
)";

constexpr const char* kFixed = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
serving: {concurrency: 4, requests: 10, prompt: 128, output: 64, slots: 4}
)";

constexpr const char* kTraceProbe = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
serving: {trace: none.csv, slots: 4}
)";

constexpr const char* kFactors = R"(
hardware: {chip: v5p, slice: 4x4x4, slices: 2}
model: llama-3-8b
batch: {tokens: 256Ki, sequence: 4096}
mesh: {data: slice, fsdp: x%2, context: x/2, tensor: y%2, tensor_transpose: y/2, cache: z%2, pipeline: z/2}
)";

constexpr const char* kLengths = R"(
hardware: {chip: v5e, slice: 4x4}
model: llama-3-8b
serving: {concurrency: 4, requests: 10, lengths: none.csv, slots: 4}
)";

constexpr const char* kProgram = R"(
hardware: {chip: v5p, slice: 4x4x4}
program:
  stages:
    - {do: matmul, m: 8, k: 4096, n: 4096, gather: {axes: x}}
    - {do: matmul, m: 8, k: 4096, n: 4096, at: "0,0,0"}
    - {do: grouped-matmul, m: 4096, k: 4096, n: 1536, groups: 8}
    - {do: attention, heads: 8, head_dim: 128, sequence: 4096}
    - {do: host-to-chip, bytes: 1 GB}
    - {do: broadcast, axes: x, root: "0,0,0", bytes: 1 GB}
    - {do: permute, axes: x, bytes: 1 GB}
    - {do: send, from: "0,0,0", to: "0,0,1", bytes: 1 GB}
)";

constexpr const char* kProbes[] = {kTraining, kModel,   kDense,   kConfig,      kDecode,
                                   kGenerate, kRuns,    kServing, kServedProbe, kTraceProbe,
                                   kLengths,  kFactors, kFixed,   kProgram};

/// Adds how a key is read by the probe that says most: a choice rather than the text that a probe
/// without it reads.
void add(AskedKeys& all, const Asked& asked) {
    const auto [found, is_new] = all.keys.try_emplace(asked.path, asked);
    Asked& known = found->second;
    if (is_new) {
        return;
    }
    const bool is_first_number = known.kind != ValueKind::whole;
    if (known.kind != asked.kind &&
        (known.kind == ValueKind::other || asked.kind == ValueKind::other)) {
        all.texts.insert(asked.path);
        known.kind = known.kind == ValueKind::other ? asked.kind : known.kind;
    }
    if (asked.kind == ValueKind::whole) {
        known.least = is_first_number ? asked.least : std::min(known.least, asked.least);
        known.most = std::max(known.most, asked.most);
    }
    for (const std::string& name : asked.choices) {
        if (std::ranges::find(known.choices, name) == known.choices.end()) {
            known.choices.push_back(name);
        }
    }
}

/// Collects the keys of every map of the tree.
void collect(const YamlNode& node, const std::string& path,
             std::map<std::string, std::vector<std::set<std::string>>>& maps) {
    if (node.kind == YamlNode::Kind::map) {
        std::set<std::string> keys;
        for (const YamlNode::Entry& entry : node.entries) {
            keys.insert(entry.key);
            collect(entry.value, path.empty() ? entry.key : path + '.' + entry.key, maps);
        }
        maps[path].push_back(std::move(keys));
    }
    for (const YamlNode& item : node.items) {
        collect(item, path, maps);
    }
}

}  // namespace

AskedKeys ask_probes() {
    AskedKeys all;
    std::map<std::string, std::vector<std::set<std::string>>> maps;
    for (const char* const probe : kProbes) {
        const YamlNode tree = parse_yaml(probe, "probe");
        ReadingLog log;
        try {
            static_cast<void>(load_scenario(tree, "probe", Requests::any, log));
            collect(tree, "", maps);
        } catch (const sim::InputError&) {
            // A file is missing; the keys that were asked for count all the same.
        }
        for (const Asked& asked : log.all()) {
            add(all, asked);
        }
    }
    for (const KeySpec& key : schema()) {
        const std::size_t dot = key.path.rfind('.');
        const std::string above(dot == std::string_view::npos ? "" : key.path.substr(0, dot));
        const std::string name(key.path.substr(dot == std::string_view::npos ? 0 : dot + 1));
        const auto found = maps.find(above);
        if (key.fallback == "required" && found != maps.end() &&
            std::ranges::all_of(found->second,
                                [&](const auto& keys) { return keys.contains(name); })) {
            all.required.insert(std::string(key.path));
        }
    }
    return all;
}

}  // namespace podsim::scenarios
