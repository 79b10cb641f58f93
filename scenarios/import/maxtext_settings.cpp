#include "scenarios/import/maxtext_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/text/quote.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// Keys that are read though a file may lack them, being older or newer.
constexpr std::array kRead =
    std::to_array<std::string_view>({"compile_topology",
                                     "compile_topology_num_slices",
                                     "model_name",
                                     "global_parameter_scale",
                                     "per_device_batch_size",
                                     "max_target_length",
                                     "gradient_accumulation_steps",
                                     "remat_policy",
                                     "decoder_layer_input",
                                     "context",
                                     "out_proj",
                                     "query_proj",
                                     "key_proj",
                                     "value_proj",
                                     "qkv_proj",
                                     "mlpwi",
                                     "mlpwi_0",
                                     "mlpwi_1",
                                     "mlpwo",
                                     "weight_dtype",
                                     "mu_dtype",
                                     "grad_dtype",
                                     "quantization",
                                     "attention",
                                     "scan_layers",
                                     "num_vocab_tiling",
                                     "capacity_factor",
                                     "megablox",
                                     "sparse_matmul",
                                     "sa_block_q",
                                     "sa_block_kv",
                                     "sa_block_q_dkv",
                                     "sa_block_kv_dkv",
                                     "sa_block_q_dq",
                                     "sa_block_kv_dq",
                                     "sa_use_fused_bwd_kernel",
                                     "use_qwix_quantization",
                                     "weight_quantization_calibration_method",
                                     "num_pipeline_microbatches",
                                     "opt_type",
                                     "base_emb_dim",
                                     "base_num_heads",
                                     "base_num_query_heads",
                                     "base_num_kv_heads",
                                     "base_mlp_dim",
                                     "base_num_decoder_layers",
                                     "head_dim",
                                     "vocab_size",
                                     "logits_via_embedding",
                                     "logits_dot_in_fp32",
                                     "gradient_clipping_threshold",
                                     "decoder_block",
                                     "mlp_activations",
                                     "use_qk_norm",
                                     "scale",
                                     "ici_fsdp_parallelism",
                                     "ici_tensor_parallelism",
                                     "ici_data_parallelism",
                                     "ici_expert_parallelism",
                                     "ici_context_parallelism",
                                     "ici_pipeline_parallelism",
                                     "ici_fsdp_transpose_parallelism",
                                     "ici_tensor_transpose_parallelism",
                                     "ici_sequence_parallelism",
                                     "ici_autoregressive_parallelism",
                                     "dcn_data_parallelism",
                                     "dcn_fsdp_parallelism",
                                     "dcn_pipeline_parallelism"});

/// What a key with such a part is of.
constexpr std::array kReasons = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"checkpoint", "of checkpoints"},
    {"orbax", "of checkpoints"},
    {"dataset", "of the data"},
    {"grain_", "of the data"},
    {"hf_", "of the data"},
    {"example_batch", "of the data"},
    {"token", "of the data"},
    {"profile", "of the profiler"},
    {"xplane", "of the profiler"},
    {"trace", "of the profiler"},
    {"tensorboard", "of logs and metrics"},
    {"metrics", "of logs and metrics"},
    {"goodput", "of logs and metrics"},
    {"log_", "of logs and metrics"},
    {"run_name", "of logs and metrics"},
    {"output_dir", "of logs and metrics"},
    {"base_output", "of logs and metrics"},
    {"steps", "of the run's length"},
    {"learning_rate", "of the optimizer's numbers"},
    {"adam_", "of the optimizer's numbers"},
    {"warmup", "of the optimizer's numbers"},
    {"_compute", "of the kernel's inner blocks"},
    {"_layout", "of the kernel's layouts"},
    {"iota_embed", "of the embedding's look-up, which takes no matmul"},
    {"tokamax", "which kernel: podsim has one"},
    {"fused_", "matmuls side by side: podsim runs them as one"},
    {"skip_jax", "of how the run starts"},
    {"hardware", "of how the run starts"},
    {"eval", "of evaluation"},
    {"dtype", "bf16 compute"},
});

std::string_view reason_of(const std::string& key) {
    for (const auto& [part, reason] : kReasons) {
        if (key.find(part) != std::string::npos) {
            return reason;
        }
    }
    return {};
}

std::string text_of(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::sequence) {
        return node.text;
    }
    std::vector<std::string> items;
    for (const YamlNode& item : node.items) {
        items.push_back(item.text);
    }
    return fmt::format("[{}]", fmt::join(items, ","));
}

}  // namespace

MaxTextSettings::MaxTextSettings(const YamlNode& base, std::span<const std::string> overrides) {
    if (base.kind != YamlNode::Kind::map) {
        throw sim::InputError(fmt::format("{} instead of a map of keys", describe(base.kind)),
                              "write MaxText's keys, as its base.yml has them", base.mark);
    }
    for (const YamlNode::Entry& entry : base.entries) {
        values_[entry.key] = {text_of(entry.value), entry.mark, false};
    }
    for (const std::string& setting : overrides) {
        override_with(setting);
    }
}

void MaxTextSettings::override_with(const std::string& setting) {
    const sim::SourceMark mark{printable(setting), 0, 0};
    const std::size_t sign = setting.find('=');
    if (sign == std::string::npos || sign == 0) {
        throw sim::InputError("not key=value", "write such as per_device_batch_size=4", mark);
    }
    const std::string key = setting.substr(0, sign);
    const auto found = values_.find(key);
    if (found != values_.end() && found->second.overridden) {
        throw sim::InputError(fmt::format("'{}' is said twice", printable(key)), "keep one", mark);
    }
    std::vector<std::string> names(kRead.begin(), kRead.end());
    for (const auto& [name, value] : values_) {
        names.push_back(name);
    }
    const bool known =
        found != values_.end() || !reason_of(key).empty() || std::ranges::count(names, key) > 0;
    if (!known) {
        const std::string near = key.size() < 100 ? sim::nearest(key, names) : "";
        throw sim::InputError(
            fmt::format("MaxText has no key '{}' in that file", printable(key)),
            near.empty() ? "check its spelling, or give the base.yml of the version that has it"
                         : fmt::format("did you mean '{}'?", near),
            mark);
    }
    std::string value = setting.substr(sign + 1);
    if (value.size() > 1 && (value.front() == '\'' || value.front() == '"') &&
        value.back() == value.front()) {
        value = value.substr(1, value.size() - 2);
    }
    values_[key] = {value, mark, true};
}

void MaxTextSettings::refuse(const std::string& key, const std::string& problem,
                             const std::string& remedy) const {
    const auto found = values_.find(key);
    throw sim::InputError(fmt::format("{}: {}", key, problem), remedy,
                          found == values_.end() ? sim::SourceMark{} : found->second.mark);
}

std::string MaxTextSettings::text(const std::string& key, const std::string& fallback) {
    const auto found = values_.find(key);
    if (found == values_.end()) {
        return fallback;
    }
    read_.insert(key);
    return found->second.text.empty() ? fallback : found->second.text;
}

bool MaxTextSettings::flag(const std::string& key, bool fallback) {
    const std::string value = text(key, fallback ? "true" : "false");
    if (value == "true" || value == "True" || value == "1") {
        return true;
    }
    if (value == "false" || value == "False" || value == "0") {
        return false;
    }
    refuse(key, fmt::format("{} is neither true nor false", in_quotes(value)),
           "write true or false");
}

std::int64_t MaxTextSettings::whole(const std::string& key, std::int64_t least,
                                    std::int64_t fallback) {
    std::string value = text(key, std::to_string(fallback));
    std::erase(value, '_');  // as in 32_768
    std::int64_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || number < least ||
        number > (1LL << 40)) {
        refuse(key, fmt::format("{} is no whole number from {}", in_quotes(value), least),
               "write a number");
    }
    return number;
}

double MaxTextSettings::number(const std::string& key, double fallback) {
    const std::string value = text(key, fmt::format("{}", fallback));
    double number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc{} || read.ptr != value.data() + value.size() || !(number < 1e12)) {
        refuse(key, fmt::format("{} is no number", in_quotes(value)), "write a number");
    }
    return number;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::used() const {
    std::vector<Line> lines;
    for (const std::string& key : read_) {
        if (!cannot_.contains(key)) {
            const Value& value = values_.at(key);
            lines.push_back({key, value.text, "", value.overridden});
        }
    }
    return lines;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::not_expressed() const {
    std::vector<Line> lines;
    for (const auto& [key, why] : cannot_) {
        const auto value = values_.find(key);
        lines.push_back({key, value == values_.end() ? "" : value->second.text, why,
                         value != values_.end() && value->second.overridden});
    }
    return lines;
}

std::vector<MaxTextSettings::Line> MaxTextSettings::ignored() const {
    std::vector<Line> lines;
    for (const auto& [key, value] : values_) {
        if (!read_.contains(key) && !cannot_.contains(key)) {
            lines.push_back({key, value.text, std::string(reason_of(key)), value.overridden});
        }
    }
    return lines;
}

}  // namespace podsim::scenarios
