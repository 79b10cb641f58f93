// Hugging Face `config.json` to ModelSpec: strict about everything that changes the shapes.
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/error.h"
#include "workloads/model.h"

namespace podsim::workloads {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kDeepestNesting = 64;
constexpr std::size_t kLongestQuote = 160;

/// What of an architecture podsim does not model, by model_type.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kNotModelled{{
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

/// Finds where the text stops being JSON, and refuses nesting that no config has.
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
    bool start_object(std::size_t) override { return descend(); }
    bool start_array(std::size_t) override { return descend(); }
    bool end_object() override { return ascend(); }
    bool end_array() override { return ascend(); }

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
        throw sim::InputError(fmt::format("not valid JSON: {}", clip(detail)), {}, mark(position));
    }

private:
    bool descend() {
        if (++depth_ > kDeepestNesting) {
            throw sim::InputError(
                fmt::format("JSON nested deeper than {} levels is not a model's config.json",
                            kDeepestNesting),
                {}, {path_, 0, 0});
        }
        return true;
    }
    bool ascend() {
        --depth_;
        return true;
    }

    /// Line and column of the last of the first `position` bytes; the column counts bytes.
    [[nodiscard]] sim::SourceMark mark(std::size_t position) const {
        sim::SourceMark mark{path_, 1, 1};
        for (std::size_t i = 0; i + 1 < position && i < text_.size(); ++i) {
            if (text_[i] == '\n') {
                ++mark.line;
                mark.column = 1;
            } else {
                ++mark.column;
            }
        }
        return mark;
    }

    const std::string& path_;
    const std::string& text_;
    std::size_t depth_ = 0;
};

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
    explicit Config(const std::string& path) : path_(path) {
        const std::string text = read_text(path);
        SyntaxCheck check(path, text);
        json::sax_parse(text, &check);
        root_ = json::parse(text);
        if (!root_.is_object()) {
            refuse("the top level is not a JSON object", "a model's config.json is one object");
        }
    }

    [[noreturn]] void refuse(std::string problem, std::string remedy = {}) const {
        throw sim::InputError(std::move(problem), std::move(remedy), {path_, 0, 0});
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
            refuse(fmt::format("'{}' is {}, not a whole number", key,
                               clip(value->dump(-1, ' ', true, json::error_handler_t::replace))),
                   fmt::format("allowed are 1 to {}", limit));
        }
        const bool huge = value->is_number_unsigned() &&
                          value->get<std::uint64_t>() > static_cast<std::uint64_t>(limit);
        if (huge || value->get<std::int64_t>() < 1) {
            refuse(fmt::format("'{}' = {} is out of range", key, value->dump()),
                   fmt::format("allowed are 1 to {}", limit));
        }
        return value->get<std::int64_t>();
    }

    [[nodiscard]] std::int64_t required(const char* key, std::int64_t limit) const {
        const std::optional<std::int64_t> value = whole(key, limit);
        if (!value) {
            refuse(fmt::format("the key '{}' is missing", key),
                   fmt::format("give a whole number from 1 to {}", limit));
        }
        return *value;
    }

    [[nodiscard]] bool flag(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return false;
        }
        if (!value->is_boolean()) {
            refuse(fmt::format("'{}' is {}, not true or false", key,
                               clip(value->dump(-1, ' ', true, json::error_handler_t::replace))));
        }
        return value->get<bool>();
    }

private:
    std::string path_;
    json root_;
};

/// Refuses every architecture whose shapes differ from a plain llama decoder.
std::string check_architecture(const Config& config) {
    constexpr std::string_view kRemedy =
        "podsim reads the dense decoder families llama and mistral (without sliding window)";
    const json* type = config.find("model_type");
    if (type == nullptr) {
        config.refuse("the key 'model_type' is missing", std::string(kRemedy));
    }
    if (!type->is_string()) {
        config.refuse("'model_type' is not a text", std::string(kRemedy));
    }
    const std::string name = type->get<std::string>();
    if (name != "llama" && name != "mistral") {
        std::string problem = fmt::format("model_type '{}' is not modelled", clip(name));
        for (const auto& [family, missing] : kNotModelled) {
            if (name == family) {
                problem += fmt::format(": it has {}", missing);
            }
        }
        config.refuse(problem, std::string(kRemedy));
    }
    if (config.find("sliding_window") != nullptr) {
        config.refuse("sliding-window attention ('sliding_window') is not modelled",
                      "set it to null if the model attends to the whole sequence");
    }
    for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts"}) {
        if (config.find(key) != nullptr) {
            config.refuse(fmt::format("experts ('{}') are not modelled", key),
                          std::string(kRemedy));
        }
    }
    for (const char* key : {"attention_bias", "mlp_bias"}) {
        if (config.flag(key)) {
            config.refuse(fmt::format("biases ('{}': true) are not modelled", key),
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
            fmt::format("'hidden_size' = {} is not a multiple of 'num_attention_heads' = {}",
                        model.d_model, model.heads),
            "give the key 'head_dim'");
    }
    try {
        validate(model);
    } catch (const sim::InputError& error) {
        throw error.at({path, 0, 0});
    }
    return model;
}

}  // namespace podsim::workloads
