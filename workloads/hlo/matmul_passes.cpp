#include "workloads/hlo/matmul_passes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "sim/base/nearest.h"

namespace podsim::workloads::hlo {
namespace {

struct Asked {
    std::string_view name;
    double both = 1;  ///< passes if both operands are fp32
    double one = 1;   ///< passes if one is
};

constexpr std::array<Asked, 3> kPrecisions{{{"default", 1, 1}, {"high", 3, 2}, {"highest", 6, 3}}};

constexpr std::array<Asked, 13> kAlgorithms{{{"dot_any_f8_any_f8_f32"},
                                             {"dot_any_f8_any_f8_f32_fast_accum"},
                                             {"dot_f16_f16_f16"},
                                             {"dot_f16_f16_f32"},
                                             {"dot_bf16_bf16_bf16"},
                                             {"dot_bf16_bf16_f32"},
                                             {"dot_bf16_bf16_f32_x3", 3, 2},
                                             {"dot_bf16_bf16_f32_x6", 6, 3},
                                             {"dot_bf16_bf16_f32_x9", 9, 3},
                                             {"dot_tf32_tf32_f32", 3, 2},
                                             {"dot_tf32_tf32_f32_x3", 6, 3},
                                             {"dot_f32_f32_f32", 6, 3},
                                             {"dot_f64_f64_f64"}}};

template <std::size_t N>
const Asked& asked(const Module& module, const Instruction& at, const char* what,
                   std::string_view name, const std::array<Asked, N>& all) {
    const auto found = std::ranges::find(all, name, &Asked::name);
    if (found != all.end()) {
        return *found;
    }
    std::array<std::string_view, N> names;
    std::ranges::transform(all, names.begin(), &Asked::name);
    const sim::InputError unknown = sim::unknown_name(what, std::string(name), names);
    throw module.error(at, unknown.problem(), unknown.remedy());
}

/// Returns the larger of the operands' precisions.
const Asked& asked_of_operands(const Module& module, const Instruction& at,
                               std::string_view braces) {
    const Asked* most = kPrecisions.data();
    Text text(braces);
    text.take("{");
    while (!text.at_end() && text.peek() != '}') {
        const Asked& one = asked(module, at, "precision", text.word(), kPrecisions);
        most = one.both > most->both ? &one : most;
        if (!text.take(",")) {
            break;
        }
    }
    return *most;
}

}  // namespace

MatmulPasses passes_of(const Module& module, const Instruction& matmul, const Shape& left,
                       const Shape& right) {
    const Asked* found = kPrecisions.data();
    const auto algorithm = matmul.find("algorithm");
    if (algorithm && *algorithm != "unset") {
        found = &asked(module, matmul, "algorithm", *algorithm, kAlgorithms);
    } else if (const auto precision = matmul.find("operand_precision")) {
        found = &asked_of_operands(module, matmul, *precision);
    }
    const int wide = (left.element == "f32" ? 1 : 0) + (right.element == "f32" ? 1 : 0);
    const double passes = wide == 2 ? found->both : wide == 1 ? found->one : 1;
    return {passes, passes > 1 ? std::string(found->name) : std::string()};
}

}  // namespace podsim::workloads::hlo
