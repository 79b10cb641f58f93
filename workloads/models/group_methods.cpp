// Methods that store floats, and formats that have integers, too.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <tuple>
#include <utility>

#include "workloads/models/hf_json.h"
#include "workloads/models/stored_scheme.h"

namespace podsim::workloads::stored {
namespace {

/// Reads `weights` of a group of compressed-tensors or modelopt.
Scheme scheme_of(const Json& weights, const std::string& format) {
    Scheme scheme{.bits = width(weights, "num_bits"), .scale = kHalf};
    const bool is_float = text(weights, "type", "int") == "float";
    const Json* const size = find(weights, "group_size");
    std::string strategy = text(weights, "strategy");
    if (strategy.empty()) {
        strategy = size == nullptr                     ? "tensor"
                   : number(weights, "group_size") > 0 ? "group"
                                                       : "channel";
    }
    if (strategy == "tensor_group" || (is_float && scheme.bits == 4)) {
        const bool micro = format.starts_with("mx") || number(weights, "group_size", 16) == 32;
        scheme = micro ? kMxfp4 : kNvfp4;
        scheme.inputs = number(weights, "group_size", scheme.inputs);
        return scheme;
    }
    if (strategy == "group") {
        scheme.inputs = group_size(number(weights, "group_size"));
    } else if (strategy == "block") {
        std::tie(scheme.outputs, scheme.inputs) = block_of(weights, "block_structure");
    } else if (strategy == "tensor") {
        scheme.outputs = 0;
    } else if (strategy != "channel") {
        throw Unsaid(fmt::format("the strategy '{}'", clip(strategy)));
    }
    if (!flag(weights, "symmetric", true)) {
        scheme.scale += format == "pack-quantized" ? scheme.bits : 8;
    }
    if (const std::string order = text(weights, "actorder"); order == "group") {
        scheme.of_row = kFloat;
    }
    return scheme;
}

Said read_groups(const Json& in, const Json& groups) {
    Said said{.kept = kept_by(in, {"ignore", "exclude_modules"}), .head = true};
    const std::string format = text(in, "format");
    for (const auto& [key, group] : groups.items()) {
        const Json* const weights = find(group, "weights");
        if (weights == nullptr) {
            continue;
        }
        Said::Group read{.scheme = scheme_of(*weights, text(group, "format", format))};
        const Json* const targets = find(group, "targets");
        const bool linear = targets == nullptr || std::ranges::any_of(*targets, [](const Json& t) {
                                return t == "Linear";
                            });
        if (!linear) {
            read.targets = patterns(targets);
        }
        said.groups.push_back(std::move(read));
    }
    if (said.groups.empty()) {
        throw Unsaid("'config_groups' without weights");
    }
    return said;
}

Said read_compressed_tensors(const Json& in) {
    const std::string format = text(in, "format");
    if (format.starts_with("marlin") || format.starts_with("sparse")) {
        throw Unsaid(fmt::format("the format '{}'", clip(format)));
    }
    if (const Json* const sparsity = find(in, "sparsity_config");
        sparsity != nullptr && text(*sparsity, "format", "dense") != "dense") {
        throw Unsaid("sparse weights ('sparsity_config')");
    }
    const Json* const groups = find(in, "config_groups");
    if (groups == nullptr || !groups->is_object()) {
        throw Unsaid("no 'config_groups'");
    }
    return read_groups(in, *groups);
}

Said read_modelopt(const Json& in) {
    const Json* const nested = find(in, "quantization");
    const Json& of = nested != nullptr ? *nested : in;
    std::string algorithm = text(of, "quant_algo");
    std::ranges::transform(algorithm, algorithm.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    constexpr double kBlock = 128;
    constexpr Scheme kFp8Blocks{.bits = 8, .scale = kFloat, .inputs = kBlock, .outputs = kBlock};
    constexpr Scheme kMxfp8{.bits = 8, .scale = 8, .inputs = 32};
    constexpr Scheme kInt4{.bits = 4, .scale = kHalf, .inputs = kBlock};
    constexpr std::array kAlgorithms = std::to_array<std::pair<std::string_view, Scheme>>(
        {{"NVFP4", kNvfp4},
         {"NVFP4_AWQ", kNvfp4},
         {"W4A16_NVFP4", kNvfp4},
         {"FP8", kFp8Tensor},
         {"FP8_PER_CHANNEL_PER_TOKEN", kFp8Channel},
         {"FP8_PB_WO", kFp8Blocks},
         {"MXFP8", kMxfp8},
         {"W4A16_AWQ", kInt4},
         {"W4A8_AWQ", kInt4},
         {"INT4_AWQ", kInt4}});
    for (const auto& [name, scheme] : kAlgorithms) {
        if (algorithm == name) {
            Said said = all_of(scheme, kept_by(of, {"ignore", "exclude_modules"}));
            said.head = true;
            return said;
        }
    }
    if (const Json* const groups = find(of, "config_groups");
        groups != nullptr && groups->is_object() && algorithm.empty()) {
        return read_groups(of, *groups);
    }
    throw Unsaid(fmt::format("'quant_algo' of {}", clip(algorithm)));
}

Said read_torchao(const Json& in) {
    const Json* type = find(in, "quant_type");
    if (type != nullptr && type->is_object()) {
        type = find(*type, "default");
    }
    std::string name;
    Json data = Json::object();
    if (type != nullptr && type->is_object()) {
        name = text(*type, "_type");
        data = type->value("_data", Json::object());
    } else if (type != nullptr && type->is_string()) {
        name = type->get<std::string>();
        data = in.value("quant_type_kwargs", Json::object());
    }
    std::vector<HfPattern> kept = kept_by(in, {"modules_to_not_convert"});
    if (name == "int4_weight_only" || name == "Int4WeightOnlyConfig") {
        return all_of(
            {.bits = 4, .scale = 2 * kHalf, .inputs = group_size(number(data, "group_size", 128))},
            std::move(kept));
    }
    constexpr std::array kEight = std::to_array<std::string_view>(
        {"int8_weight_only", "Int8WeightOnlyConfig", "int8_dynamic_activation_int8_weight",
         "Int8DynamicActivationInt8WeightConfig", "float8_weight_only", "Float8WeightOnlyConfig",
         "float8_dynamic_activation_float8_weight", "Float8DynamicActivationFloat8WeightConfig"});
    if (std::ranges::count(kEight, name) > 0) {
        return all_of({.bits = 8, .scale = kHalf}, std::move(kept));
    }
    throw Unsaid(fmt::format("'quant_type' of {}", clip(name)));
}

Said read_fbgemm(const Json& in) {
    return all_of(kFp8Channel, kept_by(in, {"modules_to_not_convert"}));
}

Said read_fp8(const Json& in) {
    std::vector<HfPattern> kept = kept_by(in, {"modules_to_not_convert", "ignored_layers"});
    if (find(in, "weight_block_size") == nullptr) {
        return all_of(kFp8Tensor, std::move(kept));
    }
    const auto [outputs, inputs] = block_of(in, "weight_block_size");
    return all_of({.bits = 8, .scale = kFloat, .inputs = inputs, .outputs = outputs},
                  std::move(kept));
}

Said read_mxfp4(const Json& in) {
    Said said = all_of(kMxfp4, kept_by(in, {"modules_to_not_convert"}));
    said.groups.front().experts_only = true;  // transformers converts GptOssExperts alone
    return said;
}

Said read_fp_quant(const Json& in) {
    const std::string dtype = text(in, "forward_dtype", "nvfp4");
    if (dtype != "nvfp4" && dtype != "mxfp4") {
        throw Unsaid(fmt::format("'forward_dtype' of {}", clip(dtype)));
    }
    return all_of(dtype == "nvfp4" ? kNvfp4 : kMxfp4, kept_by(in, {"modules_to_not_convert"}));
}

Said read_quark(const Json& in) {
    const Json* const global = find(in, "global_quant_config");
    const Json* const weight = global == nullptr ? nullptr : find(*global, "weight");
    for (const char* const key : {"layer_quant_config", "layer_type_quant_config"}) {
        if (const Json* const other = find(in, key); other != nullptr && !other->empty()) {
            throw Unsaid(fmt::format("'{}'", key));
        }
    }
    if (weight == nullptr || !weight->is_object()) {
        throw Unsaid("no 'weight' in 'global_quant_config'");
    }
    const std::string dtype = text(*weight, "dtype");
    constexpr std::array kWidths =
        std::to_array<std::pair<std::string_view, double>>({{"fp8", 8},
                                                            {"int8", 8},
                                                            {"uint8", 8},
                                                            {"fp6", 6},
                                                            {"fp4", 4},
                                                            {"int4", 4},
                                                            {"uint4", 4},
                                                            {"int3", 3},
                                                            {"int2", 2}});
    const auto found = std::ranges::find_if(
        kWidths, [&](const auto& each) { return dtype.starts_with(each.first); });
    if (found == kWidths.end()) {
        throw Unsaid(fmt::format("'dtype' of {}", clip(dtype)));
    }
    Scheme scheme{.bits = found->second, .scale = kHalf};
    const std::string by = text(*weight, "qscheme", "per_tensor");
    if (by == "per_group") {
        scheme.inputs = group_size(number(*weight, "group_size"));
        scheme.scale = text(*weight, "scale_format") == "e8m0" ? 8 : kHalf;
    } else if (by == "per_tensor") {
        scheme.outputs = 0;
    } else if (by != "per_channel") {
        throw Unsaid(fmt::format("'qscheme' of {}", clip(by)));
    }
    Said said = all_of(scheme, kept_by(in, {"exclude"}));
    said.head = true;
    return said;
}

constexpr std::array kGroupMethods = std::to_array<Method>({
    {"compressed-tensors", read_compressed_tensors},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"torchao", read_torchao},
    {"fbgemm_fp8", read_fbgemm},
    {"fp8", read_fp8},
    {"mxfp4", read_mxfp4},
    {"fp_quant", read_fp_quant},
    {"quark", read_quark},
});

}  // namespace

std::span<const Method> group_methods() {
    return kGroupMethods;
}

}  // namespace podsim::workloads::stored
