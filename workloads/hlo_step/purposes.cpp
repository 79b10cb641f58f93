#include "workloads/hlo_step/purposes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "workloads/hlo_costs/attention_kernels.h"
#include "workloads/hlo_costs/doing.h"
#include "workloads/hlo_costs/matmuls.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::array<std::string_view, 9> kMovesOnly{"convert",    "copy",          "transpose",
                                                     "slice",      "dynamic-slice", "reshape",
                                                     "copy-start", "bitcast",       "pad"};

}  // namespace

Purposes::Purposes(const Module& module, const Computation& computation, const Passes& passes)
    : module_(module), computation_(computation), passes_(passes), users_(users_of(computation)) {}

Purpose Purposes::of(std::uint32_t instruction, const FoundCollective& collective) const {
    if (collective.operation == collectives::Operation::all_gather) {
        return is_weight(instruction) ? Purpose::weights : Purpose::tensor;
    }
    const bool reduces = collective.operation == collectives::Operation::all_reduce ||
                         collective.operation == collectives::Operation::reduce_scatter;
    if (reduces &&
        (collective.was_all_reduce ||
         passes_.of(computation_.instructions[instruction]) != Pass::forward) &&
        !leads_to_matmul(instruction)) {
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

/// What the first operand is made of, back to a parameter.
bool Purposes::is_weight(std::uint32_t instruction) const {
    const Instruction* at = &computation_.instructions[instruction];
    while (!at->operands.empty()) {
        at = &computation_.instructions[at->operands.front()];
        if (at->opcode == "parameter") {
            return true;
        }
        if (!only_moves(*at)) {
            return false;
        }
    }
    return false;
}

bool Purposes::multiplies(const Instruction& instruction) const {
    if (is_matmul(instruction) || attention_of(computation_, instruction)) {
        return true;
    }
    const Computation* const inner = carried_out(module_, instruction);
    return inner != nullptr && std::ranges::any_of(inner->instructions, is_matmul);
}

bool Purposes::leads_to_matmul(std::uint32_t instruction) const {
    std::vector<std::uint32_t> open{instruction};
    std::vector<bool> seen(computation_.instructions.size());
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t user : users_[at]) {
            if (seen[user]) {
                continue;
            }
            seen[user] = true;
            const Instruction& reader = computation_.instructions[user];
            if (multiplies(reader) || reader.opcode == "while" || reader.opcode == "call") {
                return true;
            }
            open.push_back(user);
        }
    }
    return false;
}

}  // namespace podsim::workloads::hlo
