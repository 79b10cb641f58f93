#include "workloads/hlo/purposes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "workloads/hlo/attention_kernels.h"
#include "workloads/hlo/doing.h"
#include "workloads/hlo/matmuls.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::array<std::string_view, 9> kMovesOnly{"convert",    "copy",          "transpose",
                                                     "slice",      "dynamic-slice", "reshape",
                                                     "copy-start", "bitcast",       "pad"};

}  // namespace

Purposes::Purposes(const Module& module, const Computation& computation, const Passes& passes)
    : module_(module), computation_(computation), passes_(passes) {
    const std::size_t count = computation.instructions.size();
    from_parameter_.resize(count);
    to_matmul_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Instruction& at = computation.instructions[i];
        from_parameter_[i] =
            at.opcode == "parameter" ||
            (!at.operands.empty() && from_parameter_[at.operands.front()] && only_moves(at));
    }
    for (std::size_t i = count; i-- > 0;) {
        const Instruction& at = computation.instructions[i];
        if (to_matmul_[i] || at.opcode == "while" || at.opcode == "call" || multiplies(at)) {
            for (const std::uint32_t operand : at.operands) {
                to_matmul_[operand] = true;
            }
        }
    }
}

Purpose Purposes::of(std::uint32_t instruction, const FoundCollective& collective) const {
    if (collective.operation == collectives::Operation::all_gather) {
        const auto& operands = computation_.instructions[instruction].operands;
        return !operands.empty() && from_parameter_[operands.front()] ? Purpose::weights
                                                                      : Purpose::tensor;
    }
    const bool reduces = collective.operation == collectives::Operation::all_reduce ||
                         collective.operation == collectives::Operation::reduce_scatter;
    if (reduces &&
        (collective.was_all_reduce ||
         passes_.of(computation_.instructions[instruction]) != Pass::forward) &&
        !to_matmul_[instruction]) {
        return Purpose::gradients;
    }
    return Purpose::tensor;
}

bool Purposes::only_moves(const Instruction& instruction) const {
    if (const Computation* const inner = carried_out(module_, instruction)) {
        return std::ranges::all_of(inner->instructions, [&](const Instruction& each) {
            return each.opcode == "parameter" || each.opcode == "constant" || only_moves(each) ||
                   each.shape.elements() <= 1;
        });
    }
    return is_view(instruction) || is_done(instruction) ||
           std::ranges::find(kMovesOnly, instruction.opcode) != kMovesOnly.end();
}

bool Purposes::multiplies(const Instruction& instruction) const {
    if (is_matmul(instruction) || attention_of(computation_, instruction)) {
        return true;
    }
    const Computation* const inner = carried_out(module_, instruction);
    return inner != nullptr && std::ranges::any_of(inner->instructions, is_matmul);
}

}  // namespace podsim::workloads::hlo
