#include "workloads/models/hf_modules.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <re2/re2.h>
#include <stdexcept>
#include <string_view>

namespace podsim::workloads {
namespace {

using Part = HfModule::Part;

class Modules {
public:
    explicit Modules(const ModelSpec& model) : model_(model) {}

    void attention(std::int64_t layer, LayerKind kind) {
        const AttentionSizes sizes = attention_sizes(model_, kind);
        const auto d = static_cast<double>(model_.d_model);
        const auto queries = static_cast<double>(model_.heads * sizes.head_dim);
        const auto add = [&](std::string_view name, double inputs, double outputs) {
            push(Part::dense, layer,
                 {fmt::format("self_attn.{}", name), fmt::format("attn.{}", name),
                  fmt::format("attention.{}", name)},
                 inputs, outputs, 1);
        };
        const auto attended = static_cast<double>(model_.heads * sizes.value_dim);
        if (model_.latent.kv_rank > 0) {
            const auto rank = static_cast<double>(model_.latent.kv_rank);
            const auto rope = static_cast<double>(model_.latent.rope_dim);
            const auto q_rank = static_cast<double>(model_.latent.q_rank);
            if (q_rank > 0) {
                add("q_a_proj", d, q_rank);
                add("q_b_proj", q_rank, queries);
            } else {
                add("q_proj", d, queries);
            }
            add("kv_a_proj_with_mqa", d, rank + rope);
            add("kv_b_proj", rank, queries - static_cast<double>(model_.heads) * rope + attended);
        } else {
            add("q_proj", d, queries);
            add("k_proj", d, static_cast<double>(sizes.kv_heads * sizes.head_dim));
            if (!sizes.shared_kv) {
                add("v_proj", d, static_cast<double>(sizes.kv_heads * sizes.value_dim));
            }
        }
        add("o_proj", attended, d);
    }

    /// Adds the modules of an MLP of that width under each of the parents' names.
    void mlp(Part part, std::int64_t layer, std::initializer_list<std::string_view> parents,
             double width, double count) {
        const auto d = static_cast<double>(model_.d_model);
        const auto add = [&](std::initializer_list<std::string_view> leaves, double inputs,
                             double outputs) {
            std::vector<std::string> names;
            for (const std::string_view parent : parents) {
                for (const std::string_view leaf : leaves) {
                    names.push_back(fmt::format("{}.{}", parent, leaf));
                }
            }
            push(part, layer, names, inputs, outputs, count);
        };
        if (model_.gated_mlp) {
            add({"gate_proj", "gate_up_proj", "w1"}, d, width);
        }
        add({"up_proj", "gate_up_proj", "w3", "c_fc", "fc1"}, d, width);
        add({"down_proj", "w2", "c_proj", "fc2"}, width, d);
    }

    void head() {
        if (!model_.tied_embeddings) {
            all_.push_back({Part::head,
                            {"lm_head"},
                            static_cast<double>(model_.d_model),
                            static_cast<double>(model_.vocabulary),
                            1});
        }
    }

    std::vector<HfModule> take() { return std::move(all_); }

private:
    void push(Part part, std::int64_t layer, const std::vector<std::string>& names, double inputs,
              double outputs, double count) {
        HfModule module{part, {}, inputs, outputs, count};
        for (const std::string& name : names) {
            module.names.push_back(fmt::format("layers.{}.{}", layer, name));
        }
        all_.push_back(std::move(module));
    }

    const ModelSpec& model_;
    std::vector<HfModule> all_;
};

/// Converts a name, or segments of one between dots, to a regular expression.
std::string as_regex(const std::string& glob) {
    std::string text;
    for (const char c : glob) {
        if (c == '*') {
            text += ".*";
        } else if (std::string_view("\\^$.|?+()[]{}").find(c) != std::string_view::npos) {
            text += std::string("\\") + c;
        } else {
            text += c;
        }
    }
    return "(^|\\.)" + text + "(\\.|$)";
}

}  // namespace

std::vector<HfModule> hf_modules(const ModelSpec& model) {
    Modules modules(model);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const LayerKind kind = layer_kind(model, layer);
        modules.attention(layer, kind);
        if (!kind.experts) {
            modules.mlp(Part::dense, layer, {"mlp", "feed_forward"},
                        static_cast<double>(model.d_ff), 1);
            continue;
        }
        if (model.experts.shared > 0) {
            modules.mlp(Part::dense, layer,
                        {"mlp.shared_experts", "mlp.shared_expert", "feed_forward.shared_expert"},
                        static_cast<double>(model.experts.shared_columns()), 1);
        }
        modules.mlp(Part::experts, layer,
                    {"mlp.experts.0", "mlp.experts", "block_sparse_moe.experts.0",
                     "feed_forward.experts.0", "feed_forward.experts"},
                    static_cast<double>(model.experts.d_ff),
                    static_cast<double>(model.experts.count));
    }
    modules.head();
    return modules.take();
}

HfPattern::HfPattern(const std::string& text) {
    constexpr std::size_t kLongest = 400;
    if (text.size() > kLongest) {
        throw std::invalid_argument("a pattern of more than 400 letters");
    }
    constexpr std::string_view kRegex = "re:";
    from_start_ = text.starts_with(kRegex);
    // The prefix before the layers differs among wrappers: model., language_model.model.,
    // model.language_model.
    const std::size_t layers = text.find("layers.");
    const std::string pattern =
        from_start_ ? text.substr(kRegex.size())
                    : as_regex(layers == std::string::npos ? text : text.substr(layers));
    pattern_ = std::make_shared<const re2::RE2>(pattern, re2::RE2::Quiet);
    if (!pattern_->ok()) {
        throw std::invalid_argument(pattern_->error());
    }
}

bool HfPattern::names(const HfModule& module) const {
    constexpr const char* kBefore[] = {"model.", "language_model.model.", "model.language_model."};
    return std::ranges::any_of(module.names, [&](const std::string& name) {
        if (!from_start_) {
            return re2::RE2::PartialMatch(name, *pattern_);
        }
        return std::ranges::any_of(kBefore, [&](const char* before) {
            const std::string full = name == "lm_head" ? name : before + name;
            return pattern_->Match(full, 0, full.size(), re2::RE2::ANCHOR_START, nullptr, 0);
        });
    });
}

}  // namespace podsim::workloads
