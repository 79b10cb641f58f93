#include "scenarios/src/import/maxtext_attention.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {

bool maxtext_dot_product(MaxTextSettings& settings) {
    constexpr std::int64_t kShortest = 128;
    const std::string kernel = settings.text("attention", "dot_product");
    return kernel == "dot_product" ||
           (kernel == "autoselected" && settings.whole("max_target_length", 1, 2048) < kShortest);
}

std::vector<std::string> maxtext_attention(MaxTextSettings& settings,
                                           std::vector<std::string>& notes) {
    std::vector<std::string> parts;
    if (!settings.has("attention")) {
        notes.emplace_back(
            "the file is older than the key attention, when there was no flash attention");
    }
    const std::string kernel = settings.text("attention", "dot_product");
    if (kernel.starts_with("cudnn_flash")) {
        settings.refuse("attention", fmt::format("{} is a kernel of NVIDIA's GPUs", kernel),
                        "allowed: autoselected, dot_product, flash");
    }
    if (kernel != "flash" && kernel != "autoselected" && kernel != "dot_product") {
        settings.refuse("attention", fmt::format("unknown kernel {}", in_quotes(kernel)),
                        "allowed: autoselected, dot_product, flash");
    }
    if (maxtext_dot_product(settings)) {
        if (kernel == "autoselected") {
            notes.emplace_back(
                "attention=autoselected is dot_product for sequences below 128 tokens");
        }
        parts.emplace_back("attention: full");
        parts.emplace_back("attention_kernel: dot_product");
        const auto wide = [&](const char* key) {
            return settings.has(key) && settings.flag(key, false);
        };
        if (wide("float32_logits") || wide("float32_qk_product")) {
            parts.emplace_back("attention_scores: fp32");
        }
        return parts;
    }
    const bool fused = settings.flag("sa_use_fused_bwd_kernel", false);
    if (fused) {
        parts.emplace_back("attention_backward: fused");
    }
    if (settings.has("use_max_logit_estimate") &&
        settings.number("use_max_logit_estimate", -1) > 0) {
        if (settings.has("use_tokamax_splash") && settings.flag("use_tokamax_splash", false)) {
            parts.emplace_back("known_max_logit: true");
        } else {
            settings.pass_over("use_max_logit_estimate", "read with use_tokamax_splash alone");
        }
    }
    std::vector<std::string> blocks;
    std::vector<std::int64_t> sizes;
    for (const char* name : {"q", "kv", "q_dkv", "kv_dkv", "q_dq", "kv_dq"}) {
        const std::string key = fmt::format("sa_block_{}", name);
        const bool of_dq = std::string_view(name).ends_with("dq");
        if (!settings.has(key) || (fused && of_dq)) {
            continue;
        }
        sizes.push_back(settings.whole(key, 1, 512));
        blocks.push_back(fmt::format("{}: {}", name, sizes.back()));
    }
    if (sizes.empty()) {
        return parts;
    }
    const bool same =
        std::ranges::count(sizes, sizes.front()) == static_cast<std::ptrdiff_t>(sizes.size());
    parts.push_back(same ? fmt::format("attention_blocks: {}", sizes.front())
                         : fmt::format("attention_blocks: {{{}}}", fmt::join(blocks, ", ")));
    return parts;
}

std::string maxtext_without_context(const std::string& policy, std::vector<std::string>& notes) {
    constexpr std::array kWithout = std::to_array<std::pair<std::string_view, const char*>>(
        {{"minimal_with_context", "minimal"},
         {"minimal_flash", "minimal"},
         {"minimal_with_context_and_quantization", "minimal_with_quantization"},
         {"save_dot_with_context_except_mlp", "save_dot_except_mlp"}});
    for (const auto& [with, without] : kWithout) {
        if (policy == with) {
            notes.push_back(
                fmt::format("remat_policy={} is {} here: dot_product has no tensor `context`",
                            policy, without));
            return without;
        }
    }
    return policy;
}

}  // namespace podsim::scenarios
