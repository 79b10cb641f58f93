// Methods that store integers, or indices into tables.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "workloads/models/hf_json.h"
#include "workloads/models/stored_scheme.h"

namespace podsim::workloads::stored {
namespace {

/// Zero points are packed beside the scales, in symmetric quantisation too, and every row has the
/// number of its group.
Said read_gptq(const Json& in) {
    const double bits = width(in, "bits");
    Said said = all_of({.bits = bits,
                        .scale = kHalf + bits,
                        .inputs = group_size(number(in, "group_size", 128)),
                        .of_row = kFloat});
    said.head = flag(in, "lm_head");
    if (const Json* const dynamic = find(in, "dynamic"); dynamic != nullptr) {
        for (const auto& [key, value] : dynamic->items()) {
            if (!key.starts_with("-:")) {
                throw Unsaid("'dynamic' with other bits for some modules");
            }
            const Json name(key.substr(2));
            said.kept.push_back(std::move(patterns(&name, true).front()));
        }
    }
    if (const Json* const only = find(in, "modules_in_block_to_quantize"); only != nullptr) {
        for (const Json& names : *only) {
            for (HfPattern& each : patterns(&names)) {
                said.groups.front().targets.push_back(std::move(each));
            }
        }
    }
    return said;
}

Said read_awq(const Json& in) {
    const double bits = width(in, find(in, "bits") != nullptr ? "bits" : "w_bit", 4);
    const char* const size = find(in, "group_size") != nullptr ? "group_size" : "q_group_size";
    return all_of(
        {.bits = bits, .scale = kHalf + bits, .inputs = group_size(number(in, size, 128))},
        kept_by(in, {"modules_to_not_convert"}));
}

Said read_auto_round(const Json& in) {
    const double bits = width(in, "bits", 4);
    Said said = all_of(
        {.bits = bits, .scale = kHalf + bits, .inputs = group_size(number(in, "group_size", 128))});
    if (const Json* const extra = find(in, "extra_config"); extra != nullptr) {
        for (const auto& [key, value] : extra->items()) {
            const double other = width(value, "bits", bits);
            if (other == kHalf) {
                const Json name(key);
                said.kept.push_back(std::move(patterns(&name).front()));
            } else if (other != bits) {
                throw Unsaid("'extra_config' with other bits for some modules");
            }
        }
    }
    return said;
}

/// Elements are in blocks of 64, row after row. With double_quant the blocks' largest magnitudes
/// have 8 bits, and a float for every 256.
Said read_bitsandbytes(const Json& in) {
    std::vector<HfPattern> kept = kept_by(in, {"llm_int8_skip_modules"});
    if (flag(in, "load_in_4bit")) {
        const bool twice = flag(in, "bnb_4bit_use_double_quant");
        constexpr double kBlock = 64;
        constexpr double kOfBlocks = 256;
        return all_of(
            {.bits = 4, .scale = twice ? 8 + kFloat / kOfBlocks : kFloat, .inputs = kBlock},
            std::move(kept));
    }
    if (flag(in, "load_in_8bit")) {
        return all_of({.bits = 8, .scale = kFloat}, std::move(kept));
    }
    throw Unsaid("neither load_in_4bit nor load_in_8bit");
}

Said read_aqlm(const Json& in) {
    const double rows = number(in, "in_group_size", 8);
    const double columns = number(in, "out_group_size", 1);
    const double books = number(in, "num_codebooks", 1);
    const double bits = number(in, "nbits_per_codebook", 16);
    if (rows < 1 || columns < 1 || books < 1 || bits < 1 || bits > 16) {
        throw Unsaid("codebooks out of range");
    }
    const double words = books * rows * columns * static_cast<double>(1L << static_cast<int>(bits));
    return all_of({.bits = books * bits / (rows * columns),
                   .scale = kHalf,
                   .outputs = columns,
                   .of_matrix = words * kHalf},
                  kept_by(in, {"linear_weights_not_to_quantize"}));
}

Said read_quanto(const Json& in) {
    const std::string weights = text(in, "weights", "int8");
    std::vector<HfPattern> kept = kept_by(in, {"modules_to_not_convert"});
    constexpr double kGroup = 128;
    if (weights == "int4" || weights == "int2") {
        return all_of({.bits = weights == "int4" ? 4.0 : 2.0, .scale = 2 * kHalf, .inputs = kGroup},
                      std::move(kept));
    }
    if (weights == "int8" || weights.starts_with("float8")) {
        return all_of({.bits = 8, .scale = kHalf}, std::move(kept));
    }
    throw Unsaid(fmt::format("'weights' of {}", clip(weights)));
}

Said read_eetq(const Json& in) {
    return all_of({.bits = 8, .scale = kHalf}, kept_by(in, {"modules_to_not_convert"}));
}

Said read_hqq(const Json& in) {
    const Json* const config = find(in, "quant_config");
    const Json* const weights = config == nullptr ? nullptr : find(*config, "weight_quant_params");
    if (weights == nullptr || find(*config, "scale_quant_params") != nullptr ||
        find(*config, "zero_quant_params") != nullptr) {
        throw Unsaid("a 'quant_config' of single modules, or of quantised scales");
    }
    return all_of({.bits = width(*weights, "nbits", 4),
                   .scale = 2 * kHalf,
                   .inputs = group_size(number(*weights, "group_size", 64))},
                  kept_by(in, {"skip_modules"}));
}

/// Four weights of three values are in a byte; `online` quantises as it computes, and stores
/// unquantised weights.
Said read_bitnet(const Json& in) {
    const bool online = text(in, "quantization_mode", "offline") == "online";
    return all_of(online ? Scheme{} : Scheme{.bits = 2, .scale = kHalf, .outputs = 0},
                  kept_by(in, {"modules_to_not_convert"}));
}

Said read_higgs(const Json& in) {
    return all_of({.bits = width(in, "bits", 4),
                   .scale = kHalf,
                   .inputs = group_size(number(in, "group_size", 256))},
                  kept_by(in, {"modules_to_not_convert"}));
}

constexpr std::array kIntegerMethods = std::to_array<Method>({
    {"gptq", read_gptq},
    {"awq", read_awq},
    {"auto-round", read_auto_round},
    {"bitsandbytes", read_bitsandbytes},
    {"aqlm", read_aqlm},
    {"quanto", read_quanto},
    {"eetq", read_eetq},
    {"hqq", read_hqq},
    {"bitnet", read_bitnet},
    {"higgs", read_higgs},
});

}  // namespace

std::span<const Method> integer_methods() {
    return kIntegerMethods;
}

}  // namespace podsim::workloads::stored
