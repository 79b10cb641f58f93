#include "workloads/models/hf_config.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "workloads/models/hf_families.h"
#include "workloads/models/hf_keys.h"
#include "workloads/models/hf_quantization.h"

namespace podsim::workloads {
namespace {

constexpr std::size_t kLongestType = 100;  // longer ones are not compared with ours

/// The feature of an architecture that podsim does not model, by model_type.
constexpr std::array kNotModelled = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"bloom", "a norm of embeddings and attention biased by distance"},
    {"mpt", "attention biased by distance"},
    {"gpt_neo", "windows in every second layer, beginning with the second"},
    {"gemma3n", "embeddings of every layer"},
    {"gemma3n_text", "embeddings of every layer"},
    {"mllama", "layers of cross-attention to images"},
    {"mllama_text_model", "layers of cross-attention to images"},
    {"deepseek_v32", "sparse attention, with keys chosen by an index"},
    {"glm_moe_dsa", "sparse attention, with keys chosen by an index"},
    {"qwen3_next", "linear attention"},
    {"qwen3_5_text", "linear attention"},
    {"qwen3_5_moe_text", "linear attention"},
    {"kimi_linear", "linear attention"},
    {"minimax", "linear attention"},
    {"minimax_text_01", "linear attention"},
    {"minimax_m1", "linear attention"},
    {"lfm2", "layers of convolutions"},
    {"baichuan", "rotary positions or attention biased by distance, which its config does not say"},
    {"dbrx", "keys in groups (attn_config, ffn_config)"},
    {"chatglm", "the keys of its own code; those of transformers are read as glm"},
    {"qwen", "the keys of its own code; qwen2 and later are read"},
    {"bert", "an encoder"},
    {"t5", "an encoder"},
    {"bart", "an encoder"},
    {"whisper", "an encoder"},
    {"nemotron-nas", "layers of different widths"},
    {"openelm", "layers of different widths"},
    {"mamba", "state-space layers"},
    {"mamba2", "state-space layers"},
    {"jamba", "state-space layers"},
    {"bamba", "state-space layers"},
    {"zamba", "state-space layers"},
    {"zamba2", "state-space layers"},
    {"falcon_mamba", "state-space layers"},
    {"falcon_h1", "state-space layers"},
    {"nemotron_h", "state-space layers"},
    {"rwkv", "recurrent layers"},
    {"recurrent_gemma", "recurrent layers"},
});

/// Other names of families, and the names of the text models of multimodal ones.
constexpr std::array kAliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"gemma3", "gemma3_text"},
    {"gemma4", "gemma4_text"},
    {"llama4", "llama4_text"},
    {"llava", "llama"},
    {"mistral3", "mistral"},
    {"ministral3", "mistral"},
    {"qwen2_vl", "qwen2"},
    {"qwen2_vl_text", "qwen2"},
    {"qwen2_5_vl", "qwen2"},
    {"qwen2_5_vl_text", "qwen2"},
    {"qwen3_vl_text", "qwen3"},
    {"qwen3_vl_moe_text", "qwen3_moe"},
    {"glm4v_text", "glm4"},
    {"internlm", "internlm2"},
    {"kimi_k25", "kimi_k2"},
    {"mimo", "qwen2"},
    {"glm4v_moe_text", "glm4_moe"},
});

/// Defaults of transformers' classes for keys that a file lacks, if they differ from most classes'
/// defaults. Other names of a family belong to classes with other defaults, except these multimodal
/// models, whose text model is of the family's class.
constexpr std::array<std::string_view, 3> kOfSameClass{"gemma3", "gemma4", "mistral3"};
struct ClassDefault {
    std::string_view family;
    const char* key;
    std::int64_t value;
};
constexpr std::array kClassDefaults = std::to_array<ClassDefault>({
    {"mistral", "num_key_value_heads", 8},
    {"mistral", "sliding_window", 4096},
    {"mixtral", "num_key_value_heads", 8},
    {"phimoe", "num_key_value_heads", 8},
    {"ministral", "num_key_value_heads", 8},
    {"ministral", "sliding_window", 4096},
    {"gemma2", "num_key_value_heads", 4},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma4_text", "num_key_value_heads", 4},
    {"gemma4_text", "sliding_window", 512},
    {"gemma4_text", "hidden_size_per_layer_input", 256},
    {"starcoder2", "num_key_value_heads", 2},
    {"qwen3_moe", "num_key_value_heads", 4},
    {"gpt_oss", "num_key_value_heads", 8},
    {"gpt_oss", "head_dim", 64},
    {"glm", "num_key_value_heads", 2},
    {"glm", "head_dim", 128},
    {"glm4", "num_key_value_heads", 2},
    {"glm4", "head_dim", 128},
    {"glm4_moe", "num_key_value_heads", 8},
    {"deepseek_v3", "first_k_dense_replace", 3},
    {"deepseek_v3", "n_shared_experts", 1},
    {"minimax_m2", "num_key_value_heads", 8},
    {"minimax_m2", "head_dim", 128},
    {"olmo3", "sliding_window", 4096},
    {"exaone4", "sliding_window", 4096},
    {"smollm3", "num_key_value_heads", 4},
    {"ernie4_5", "num_key_value_heads", 2},
    {"ernie4_5", "head_dim", 128},
    {"ernie4_5_moe", "num_key_value_heads", 4},
    {"ernie4_5_moe", "moe_layer_start_index", 1},
    {"ernie4_5_moe", "moe_num_shared_experts", 2},
    {"seed_oss", "num_key_value_heads", 8},
    {"seed_oss", "head_dim", 128},
});

/// Other families' names of the key/value heads, and those of other libraries.
constexpr std::array kKvHeads = std::to_array<std::string_view>(
    {"num_kv_heads", "n_kv_heads", "n_head_kv", "num_query_groups", "multi_query_group_num"});

std::vector<HfFamily> all_families() {
    std::vector<HfFamily> all;
    for (const auto families : {dense_families(), gpt_families(), expert_families()}) {
        all.insert(all.end(), families.begin(), families.end());
    }
    return all;
}

/// True if `near` may be meant: names that differ in digits, or that extend the other, belong to
/// other architectures.
bool may_be_misspelt(const std::string& name, const std::string& near) {
    const auto digits = [](std::string text) {
        std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
        return text;
    };
    return digits(name) == digits(near) && !name.starts_with(near + '_');
}

/// Refuses an architecture that no family reads.
[[noreturn]] void refuse_type(const HfConfig& config, const std::string& name,
                              const std::string& remedy) {
    const std::string problem = fmt::format("model_type '{}' is not modelled", clip(name));
    for (const auto& [family, missing] : kNotModelled) {
        if (name == family) {
            config.refuse("model_type", problem + fmt::format(": it has {}", missing), remedy);
        }
    }
    const std::vector<std::string> names = hf_family_names();
    const std::string near = name.size() <= kLongestType ? sim::nearest(name, names) : "";
    config.refuse(
        "model_type", problem,
        (near.empty() || !may_be_misspelt(name, near) ? ""
                                                      : fmt::format("did you mean '{}'? ", near)) +
            remedy);
}

void assume_defaults(HfConfig& config, const HfFamily& family, const std::string& written) {
    if (written != family.type && std::ranges::count(kOfSameClass, written) == 0) {
        return;
    }
    for (const ClassDefault& taken : kClassDefaults) {
        if (taken.family == family.type) {
            config.assume_default(taken.key, taken.value);
        }
    }
}

/// `wrapper`: the model_type of a multimodal model, whose text model may leave its own out.
HfFamily find_family(HfConfig& config, const std::string& wrapper) {
    const std::string remedy = fmt::format(
        "`podsim import hf --help` lists the {} families that podsim reads", all_families().size());
    const nlohmann::json* type = config.find("model_type");
    if (type == nullptr && wrapper.empty()) {
        config.refuse_missing("model_type", remedy);
    }
    if (type != nullptr && !type->is_string()) {
        config.refuse("model_type", "'model_type' is not a text", remedy);
    }
    const std::string written = type != nullptr ? type->get<std::string>() : wrapper;
    std::string_view name = written;
    for (const auto& [other, family] : kAliases) {
        if (written == other) {
            name = family;
        }
    }
    for (const HfFamily& family : all_families()) {
        if (family.type == name) {
            assume_defaults(config, family, written);
            return family;
        }
    }
    refuse_type(config, written, remedy);
}

/// Refuses experts in a family that has none.
void refuse_experts(HfConfig& config, const HfFamily& family, const ModelSpec& model) {
    for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
        const nlohmann::json* const said = config.find(key);
        if (model.experts.count == 0 && said != nullptr && *said != 0) {
            std::vector<std::string_view> names;
            for (const HfFamily& other : expert_families()) {
                names.push_back(other.type);
            }
            config.refuse(
                key, fmt::format("experts ('{}') in a model of the family {}", key, family.type),
                fmt::format("families with experts are {}", fmt::join(names, ", ")));
        }
    }
}

/// Refuses another name of the key/value heads if the family reads num_key_value_heads and the file
/// lacks it: otherwise every head would have keys of its own.
void refuse_other_kv_heads(const HfConfig& config) {
    if (!config.asked_for("num_key_value_heads") || config.has("num_key_value_heads")) {
        return;
    }
    for (const std::string_view key : kKvHeads) {
        if (config.has(key) && !config.asked_for(std::string(key))) {
            config.refuse(key, fmt::format("'{}' is not read in this family", key),
                          "its name here is num_key_value_heads");
        }
    }
}

/// Refuses a key that is a letter or two away from one that the family reads and the file lacks.
void refuse_slip(const HfConfig& config, const std::string& key) {
    for (const std::string& wanted : config.missing()) {
        const std::size_t most = wanted.size() < 8 ? 1 : 2;
        if (key.size() <= kLongestType && sim::edits_between(key, wanted) <= most) {
            config.refuse(key, fmt::format("unknown key '{}'", clip(key)),
                          fmt::format("did you mean '{}'? write it so, or leave it out", wanted));
        }
    }
}

void sort_keys(const HfConfig& config, HfReading& reading) {
    for (const std::string& key : config.keys()) {
        if (config.asked_for(key)) {
            reading.read.push_back({key, config.text_of(key)});
        } else if (const std::string_view reason = why_ignored(key); !reason.empty()) {
            reading.ignored.push_back({key, std::string(reason)});
        } else if (std::ranges::count(hf_keys(), key) > 0) {
            reading.ignored.push_back({key, "of other families"});
        } else {
            refuse_slip(config, key);
            reading.unknown.push_back(clip(key));
        }
    }
}

void note_stored(HfConfig& config, const StoredWeights& stored) {
    constexpr double kBits = 8;
    if (stored.known()) {
        config.note(fmt::format(
            "weights are stored in {:.2f} bits a parameter of layers, {:.2f} of experts, {:.2f} of "
            "tables ({}), which inference "
            "without inference.weights takes",
            stored.dense * kBits, stored.experts * kBits, stored.tables * kBits, stored.how));
    } else if (!stored.unknown.empty()) {
        config.note(fmt::format("quantization_config: {}; inference needs inference.weights",
                                stored.unknown));
    }
}

}  // namespace

std::vector<std::string> hf_family_names() {
    std::vector<std::string> names;
    for (const HfFamily& family : all_families()) {
        names.emplace_back(family.type);
    }
    return names;
}

HfReading read_hf_config_fully(const std::string& path) {
    HfConfig config(path, hf_keys());
    std::string wrapper;
    if (const nlohmann::json* type = config.find("model_type");
        type != nullptr && type->is_string()) {
        wrapper = type->get<std::string>();
    }
    if (config.enter("text_config")) {
        config.note(fmt::format("of {} the text model alone", clip(wrapper)));
    } else {
        wrapper.clear();
    }
    const HfFamily family = find_family(config, wrapper);
    HfReading reading;
    reading.family = family.type;
    ModelSpec& model = reading.model;
    model.name = fmt::format("{} of {}", family.type, path);
    model.source = path;
    family.read(config, model);
    refuse_other_kv_heads(config);
    refuse_experts(config, family, model);
    try {
        validate(model);
    } catch (const sim::InputError& error) {
        throw error.at(config.mark("hidden_size"));  // no single key is at fault
    }
    model.stored = read_stored_weights(config, model);
    note_stored(config, model.stored);
    sort_keys(config, reading);
    reading.notes = config.notes();
    return reading;
}

ModelSpec read_hf_config(const std::string& path) {
    return read_hf_config_fully(path).model;
}

}  // namespace podsim::workloads
