#include "workloads/hlo/attention_kernels.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace podsim::workloads::hlo {
namespace {

template <std::size_t N>
bool has_any(const std::string& text, const std::array<const char*, N>& words) {
    return std::ranges::any_of(
        words, [&](const char* word) { return text.find(word) != std::string::npos; });
}

constexpr double kForwardMatmuls = 2;
constexpr double kBackwardMatmuls = 5;
constexpr double kMatmulsOfDq = 3;

}  // namespace

std::optional<AttentionKernel> attention_of(const Computation& computation,
                                            const Instruction& instruction) {
    if (instruction.opcode != "custom-call") {
        return std::nullopt;
    }
    std::string names =
        instruction.name + ' ' + std::string(instruction.text("custom_call_target"));
    std::ranges::transform(names, names.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!has_any(names, std::array{"flash", "splash", "mha", "fused_attn", "attention"})) {
        return std::nullopt;
    }
    std::vector<const Shape*> operands;
    for (const std::uint32_t operand : instruction.operands) {
        const Shape& shape = computation.instructions[operand].shape;
        if (shape.kind == Shape::Kind::array && shape.dims.size() >= 3 &&
            is_floating(shape.element) && shape.elements() > 0) {
            operands.push_back(&shape);
        }
    }
    if (operands.size() < 2) {
        return std::nullopt;
    }
    const Shape& q = *operands[0];
    std::vector<std::int64_t> k = operands[1]->dims;
    const std::size_t last = q.dims.size() - 1;
    if (k.size() == q.dims.size() + 1 && k[last - 1] == 2) {
        k.erase(k.begin() + static_cast<std::ptrdiff_t>(last) - 1);  // k and v in one
    }
    if (k.size() != q.dims.size() || q.dims[last] != k[last]) {
        return std::nullopt;
    }
    std::size_t positions = q.dims[last - 1] >= q.dims[last - 2] ? last - 1 : last - 2;
    if ((q.dims[last - 1] == k[last - 1]) != (q.dims[last - 2] == k[last - 2])) {
        positions = q.dims[last - 1] == k[last - 1] ? last - 1 : last - 2;
    }
    AttentionKernel kernel;
    kernel.backward = has_any(names, std::array{"bwd", "backward", "dkv", "dq"});
    const std::string_view config = instruction.find("backend_config").value_or(std::string_view());
    constexpr std::string_view kMask = "mask_type = ";
    if (const std::size_t at = config.find(kMask); at != std::string_view::npos) {
        const std::string_view mask = config.substr(at + kMask.size());
        kernel.causal = !mask.empty() && mask.front() >= '2';
    }
    kernel.queries = static_cast<double>(q.dims[positions]);
    kernel.keys = static_cast<double>(k[positions]);
    kernel.head = static_cast<double>(q.dims[last]);
    kernel.heads = q.elements() / (kernel.queries * kernel.head);
    kernel.dkv = has_any(names, std::array{"dkv"});
    kernel.dq = !kernel.dkv && has_any(names, std::array{"dq"});
    kernel.matmuls = kernel.dq         ? kMatmulsOfDq
                     : kernel.backward ? kBackwardMatmuls
                                       : kForwardMatmuls;
    return kernel;
}

}  // namespace podsim::workloads::hlo
