// Hugging Face `config.json` to ModelSpec: strict about everything that changes the shapes.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/error.h"
#include "sim/nearest.h"
#include "workloads/model.h"

namespace podsim::workloads {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kDeepestNesting = 64;
constexpr std::size_t kLongestQuote = 160;
constexpr std::size_t kLongestName = 100;  // longer ones are not compared with ours

/// The families that podsim models.
constexpr std::array<std::string_view, 2> kFamilies{"llama", "mistral"};

/// The keys that are read: none of them is a slip of another.
constexpr std::array<std::string_view, 15> kKeys{
    "model_type",        "hidden_size",         "intermediate_size",
    "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "vocab_size",        "tie_word_embeddings", "head_dim",
    "sliding_window",    "num_local_experts",   "num_experts",
    "n_routed_experts",  "attention_bias",      "mlp_bias"};

/// What of an architecture podsim does not model, by model_type.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kNotModelled{{
    {"llama4", "experts and two kinds of attention"},
    {"llama4_text", "experts and two kinds of attention"},
    {"mixtral", "experts"},
    {"qwen2_moe", "experts"},
    {"qwen3_moe", "experts"},
    {"deepseek_v2", "experts and latent attention"},
    {"deepseek_v3", "experts and latent attention"},
    {"qwen2", "biases of the query, key and value projections"},
    {"qwen3", "norms of queries and keys"},
    {"gemma2", "alternating local attention and extra norms"},
    {"gemma3_text", "alternating local attention and extra norms"},
    {"gpt2", "learned positions and biases"},
    {"opt", "learned positions and biases"},
    {"t5", "an encoder"},
}};

/// The first characters of a text, so that a message stays one readable line.
std::string clip(std::string_view text) {
    std::string line(text.substr(0, kLongestQuote));
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            c = ' ';
        }
    }
    return text.size() > kLongestQuote ? line + "..." : line;
}

/// Line and column of the byte at `offset`; the column counts bytes.
sim::SourceMark mark_at(const std::string& path, const std::string& text, std::size_t offset) {
    sim::SourceMark mark{path, 1, 1};
    for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++mark.line;
            mark.column = 1;
        } else {
            ++mark.column;
        }
    }
    return mark;
}

/// Finds where the text stops being JSON.
class SyntaxCheck : public nlohmann::json_sax<json> {
public:
    explicit SyntaxCheck(const std::string& path, const std::string& text)
        : path_(path), text_(text) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool key(string_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_object() override { return true; }
    bool end_array() override { return true; }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        // `[json.exception.x.1] parse error at line 1, column 2: <the part worth keeping>; last
        // read: ...`
        std::string_view detail = error.what();
        for (const std::string_view before : {"] ", "parse error at ", ": "}) {
            const std::size_t at = detail.find(before);
            if (at != std::string_view::npos) {
                detail.remove_prefix(at + before.size());
            }
        }
        detail = detail.substr(0, detail.find("; last read"));
        throw sim::InputError(fmt::format("not valid JSON: {}", clip(detail)), {},
                              mark_at(path_, text_, position > 0 ? position - 1 : 0));
    }

private:
    const std::string& path_;
    const std::string& text_;
};

/// A key of the top level, decoded, and the offset of its first quote.
struct KeyPlace {
    std::string key;
    std::size_t offset = 0;
};

/// The end of the JSON string whose quote stands at `begin`: the offset behind its last quote.
std::size_t end_of_string(const std::string& text, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < text.size() && text[i] != '"') {
        i += text[i] == '\\' ? 2 : 1;
    }
    return std::min(i + 1, text.size());
}

/// Refuses nesting that no config has, before the parser meets it. The text need not be JSON.
void check_nesting(const std::string& path, const std::string& text) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            i = end_of_string(text, i) - 1;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0 ? 1 : 0;
        } else if ((c == '{' || c == '[') && ++depth > kDeepestNesting) {
            throw sim::InputError(
                fmt::format("JSON nested deeper than {} levels is not a model's config.json",
                            kDeepestNesting),
                {}, mark_at(path, text, i));
        }
    }
}

/// The keys of the outermost object of a valid JSON text, in their order.
std::vector<KeyPlace> top_keys(const std::string& text) {
    std::vector<KeyPlace> keys;
    std::size_t depth = 0;
    bool expects_key = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            const std::size_t end = end_of_string(text, i);
            if (depth == 1 && expects_key) {
                keys.push_back({json::parse(text.substr(i, end - i)).get<std::string>(), i});
                expects_key = false;
            }
            i = end - 1;
        } else if (c == '{' || c == '[') {
            ++depth;
            expects_key = depth == 1 && c == '{';
        } else if (c == '}' || c == ']') {
            --depth;
        } else if (c == ',') {
            expects_key = depth == 1;
        }
    }
    return keys;
}

std::string read_text(const std::string& path) {
    std::error_code ignored;
    std::ifstream file;
    if (!std::filesystem::is_directory(path, ignored)) {
        file.open(path, std::ios::binary);
    }
    if (!file.is_open()) {
        throw sim::InputError("cannot read the file", "hf_config names a model's config.json",
                              {path, 0, 0});
    }
    std::string text(kLargestFile + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestFile) {
        throw sim::InputError("larger than 1 MiB, so not a model's config.json", {}, {path, 0, 0});
    }
    return text;
}

/// Typed access to the keys of one config; every refusal carries the file and the key.
class Config {
public:
    explicit Config(const std::string& path) : path_(path), text_(read_text(path)) {
        check_nesting(path_, text_);
        SyntaxCheck check(path_, text_);
        json::sax_parse(text_, &check);
        root_ = json::parse(text_);
        if (!root_.is_object()) {
            throw sim::InputError("the top level is not a JSON object",
                                  "a model's config.json is one object", {path_, 1, 1});
        }
        keys_ = top_keys(text_);
    }

    /// Where a key stands (the last of several, which counts); the start of the file without it.
    [[nodiscard]] sim::SourceMark mark(std::string_view key) const {
        const auto found = std::find_if(keys_.rbegin(), keys_.rend(),
                                        [&](const KeyPlace& place) { return place.key == key; });
        return mark_at(path_, text_, found == keys_.rend() ? 0 : found->offset);
    }

    /// An error that stands at a key.
    [[noreturn]] void refuse(std::string_view key, std::string problem,
                             std::string remedy = {}) const {
        throw sim::InputError(std::move(problem), std::move(remedy), mark(key));
    }

    /// An error about a key that the file lacks; asks about a key that may be a slip of it.
    [[noreturn]] void refuse_missing(std::string_view key, const std::string& remedy) const {
        std::vector<std::string> others;
        for (const KeyPlace& place : keys_) {
            if (place.key.size() <= kLongestName && !std::ranges::count(kKeys, place.key)) {
                others.push_back(place.key);
            }
        }
        const std::string near = sim::nearest(key, others);
        const std::string question =
            near.empty() ? "" : fmt::format("is it '{}' in line {}? ", clip(near), mark(near).line);
        throw sim::InputError(fmt::format("the key '{}' is missing", key), question + remedy,
                              {path_, 1, 1});
    }

    /// The value of a key; nothing when it is missing or null (which the format uses for defaults).
    [[nodiscard]] const json* find(const char* key) const {
        const auto entry = root_.find(key);
        return entry == root_.end() || entry->is_null() ? nullptr : &*entry;
    }

    [[nodiscard]] std::optional<std::int64_t> whole(const char* key, std::int64_t limit) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_number_integer()) {
            refuse(key,
                   fmt::format("'{}' is {}, not a whole number", key,
                               clip(value->dump(-1, ' ', true, json::error_handler_t::replace))),
                   fmt::format("allowed are 1 to {}", limit));
        }
        const bool huge = value->is_number_unsigned() &&
                          value->get<std::uint64_t>() > static_cast<std::uint64_t>(limit);
        if (huge || value->get<std::int64_t>() < 1) {
            refuse(key, fmt::format("'{}' = {} is out of range", key, value->dump()),
                   fmt::format("allowed are 1 to {}", limit));
        }
        return value->get<std::int64_t>();
    }

    [[nodiscard]] std::int64_t required(const char* key, std::int64_t limit) const {
        const std::optional<std::int64_t> value = whole(key, limit);
        if (!value) {
            refuse_missing(key, fmt::format("give a whole number from 1 to {}", limit));
        }
        return *value;
    }

    [[nodiscard]] bool flag(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return false;
        }
        if (!value->is_boolean()) {
            refuse(key,
                   fmt::format("'{}' is {}, not true or false", key,
                               clip(value->dump(-1, ' ', true, json::error_handler_t::replace))));
        }
        return value->get<bool>();
    }

private:
    std::string path_;
    std::string text_;
    json root_;
    std::vector<KeyPlace> keys_;
};

/// Refuses every architecture whose shapes differ from a plain llama decoder.
std::string check_architecture(const Config& config) {
    constexpr std::string_view kRemedy =
        "podsim reads the dense decoder families llama and mistral (without sliding window)";
    const json* type = config.find("model_type");
    if (type == nullptr) {
        config.refuse_missing("model_type", std::string(kRemedy));
    }
    if (!type->is_string()) {
        config.refuse("model_type", "'model_type' is not a text", std::string(kRemedy));
    }
    std::string name = type->get<std::string>();
    if (!std::ranges::count(kFamilies, name)) {
        const std::string problem = fmt::format("model_type '{}' is not modelled", clip(name));
        for (const auto& [family, missing] : kNotModelled) {
            if (name == family) {
                config.refuse("model_type", problem + fmt::format(": it has {}", missing),
                              std::string(kRemedy));
            }
        }
        const std::string near = name.size() <= kLongestName ? sim::nearest(name, kFamilies) : "";
        config.refuse(
            "model_type", problem,
            (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) + std::string(kRemedy));
    }
    if (config.find("sliding_window") != nullptr) {
        config.refuse("sliding_window",
                      "sliding-window attention ('sliding_window') is not modelled",
                      "set it to null if the model attends to the whole sequence");
    }
    for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
        if (config.find(key) != nullptr) {
            config.refuse(key, fmt::format("experts ('{}') are not modelled", key),
                          std::string(kRemedy));
        }
    }
    for (const char* key : {"attention_bias", "mlp_bias"}) {
        if (config.flag(key)) {
            config.refuse(key, fmt::format("biases ('{}': true) are not modelled", key),
                          std::string(kRemedy));
        }
    }
    return name;
}

}  // namespace

ModelSpec read_hf_config(const std::string& path) {
    const Config config(path);
    ModelSpec model;
    model.name = fmt::format("{} of {}", check_architecture(config), path);
    model.source = path;
    model.layers = config.required("num_hidden_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.d_ff = config.required("intermediate_size", ModelLimits::d_ff);
    model.heads = config.required("num_attention_heads", ModelLimits::heads);
    model.kv_heads = config.whole("num_key_value_heads", model.heads).value_or(model.heads);
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    model.tied_embeddings = config.flag("tie_word_embeddings");
    if (model.heads % model.kv_heads != 0) {
        config.refuse(
            "num_key_value_heads",
            fmt::format("'num_key_value_heads' = {} does not divide 'num_attention_heads' = {}",
                        model.kv_heads, model.heads),
            "every key/value head serves the same number of query heads");
    }
    if (const auto head_dim = config.whole("head_dim", ModelLimits::head_dim)) {
        model.head_dim = *head_dim;
    } else if (model.d_model % model.heads == 0) {
        model.head_dim = model.d_model / model.heads;
    } else {
        config.refuse(
            "hidden_size",
            fmt::format("'hidden_size' = {} is not a multiple of 'num_attention_heads' = {}",
                        model.d_model, model.heads),
            "give the key 'head_dim'");
    }
    try {
        validate(model);
    } catch (const sim::InputError& error) {
        throw error.at(config.mark("hidden_size"));  // only the derived head_dim is unchecked yet
    }
    return model;
}

}  // namespace podsim::workloads
