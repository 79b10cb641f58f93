#include "workloads/hlo_costs/traffic.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "workloads/hlo_costs/doing.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

constexpr std::array<std::string_view, 17> kTranscendental{"exponential", "exponential-minus-one",
                                                           "log",         "log-plus-one",
                                                           "logistic",    "power",
                                                           "rsqrt",       "sqrt",
                                                           "cbrt",        "tanh",
                                                           "tan",         "sine",
                                                           "cosine",      "divide",
                                                           "erf",         "atan2",
                                                           "remainder"};

constexpr std::array<std::string_view, 12> kFree{
    "convert", "broadcast", "reshape",     "transpose",     "slice",   "pad",
    "copy",    "iota",      "concatenate", "dynamic-slice", "reverse", "dynamic-update-slice"};

template <std::size_t N>
bool one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::ranges::find(names, name) != names.end();
}

const Shape& shape_of(const Computation& computation, const Instruction& instruction,
                      std::size_t operand) {
    return computation.instructions[instruction.operands[operand]].shape;
}

/// What is read of a parameter within a fusion: all of it, but for slices, and for what is only written into.
sim::Bytes read_of(const Computation& fused, const Users& users, std::uint32_t number) {
    const Instruction& at = fused.instructions[number];
    const sim::Bytes whole = in_hbm(at.shape);
    sim::Bytes parts;
    for (const std::uint32_t user : users[number]) {
        const Instruction& reader = fused.instructions[user];
        if (is_view(reader)) {
            parts += read_of(fused, users, user);
        } else if (reader.opcode == "dynamic-slice" || reader.opcode == "slice") {
            parts += reader.operands.front() == number ? reader.shape.stored_bytes() : whole;
        } else if (reader.opcode == "gather") {
            parts += reader.operands.front() == number ? reader.shape.stored_bytes() : whole;
        } else if (reader.opcode == "dynamic-update-slice") {
            parts += reader.operands.front() == number ? sim::Bytes() : whole;
        } else {
            return whole;
        }
    }
    return std::min(parts, whole);
}

/// What is written of a result that `number` makes within a fusion.
sim::Bytes written_of(const Computation& fused, std::uint32_t number, const Shape& result) {
    const Instruction& at = fused.instructions[number];
    if (is_view(at) && !at.operands.empty()) {
        return written_of(fused, at.operands.front(), result);
    }
    if (at.opcode == "dynamic-update-slice" && at.operands.size() >= 2) {
        return std::min(in_hbm(result), shape_of(fused, at, 1).stored_bytes());
    }
    if (at.opcode == "parameter") {
        return {};
    }
    return in_hbm(result);
}

sim::Bytes hbm_of_fusion(const Instruction& instruction, const Computation& computation,
                         const Computation& fused) {
    const Users users = users_of(fused);
    sim::Bytes bytes;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        const Instruction* const parameter = fused.parameter(static_cast<std::int64_t>(i));
        const sim::Bytes whole = in_hbm(shape_of(computation, instruction, i));
        if (parameter == nullptr || whole.value() == 0) {
            bytes += whole;
            continue;
        }
        const auto number = static_cast<std::uint32_t>(parameter - fused.instructions.data());
        bytes += std::min(whole, read_of(fused, users, number));
    }
    const Instruction& root = fused.root_instruction();
    if (root.opcode == "tuple" && instruction.shape.parts.size() == root.operands.size()) {
        for (std::size_t i = 0; i < root.operands.size(); ++i) {
            bytes += written_of(fused, root.operands[i], instruction.shape.parts[i]);
        }
        return bytes;
    }
    return bytes + written_of(fused, fused.root, instruction.shape);
}

}  // namespace

sim::Bytes in_hbm(const Shape& shape) {
    sim::Bytes sum;
    for (const Shape* const array : arrays_of(shape)) {
        sum += array->layout.memory_space == kHbmSpace ? array->stored_bytes() : sim::Bytes();
    }
    return sum;
}

sim::Bytes hbm_of(const Module& module, const Computation& computation,
                  const Instruction& instruction) {
    if (const Computation* const fused = carried_out(module, instruction)) {
        return hbm_of_fusion(instruction, computation, *fused);
    }
    const std::string& opcode = instruction.opcode;
    const sim::Bytes result = in_hbm(instruction.shape);
    if (opcode == "slice" || opcode == "dynamic-slice" || opcode == "gather") {
        return result + std::min(instruction.shape.stored_bytes(),
                                 in_hbm(shape_of(computation, instruction, 0)));
    }
    if (opcode == "dynamic-update-slice" && instruction.operands.size() >= 2) {
        const Shape& update = shape_of(computation, instruction, 1);
        return in_hbm(update) + std::min(result, update.stored_bytes());
    }
    if (opcode == "scatter" && instruction.operands.size() >= 3) {
        const Shape& updates = shape_of(computation, instruction, instruction.operands.size() - 1);
        return in_hbm(updates) + 2 * std::min(result, updates.stored_bytes());
    }
    std::vector<std::uint32_t> read = instruction.operands;
    std::ranges::sort(read);
    read.erase(std::unique(read.begin(), read.end()), read.end());
    sim::Bytes bytes = result;
    for (const std::uint32_t operand : read) {
        bytes += in_hbm(computation.instructions[operand].shape);
    }
    return bytes;
}

sim::Flops vector_of(const Module& module, const Computation& computation,
                     const Instruction& instruction) {
    if (const Computation* const inner = carried_out(module, instruction)) {
        sim::Flops sum;
        for (const Instruction& each : inner->instructions) {
            sum += vector_of(module, *inner, each);
        }
        return sum;
    }
    if (!is_elementwise(instruction) || one_of(instruction.opcode, kFree)) {
        return {};
    }
    const Shape* of = &instruction.shape;
    if (instruction.opcode == "reduce" && !instruction.operands.empty()) {
        of = &shape_of(computation, instruction, 0);
    } else if (instruction.opcode == "compare" && !instruction.operands.empty()) {
        of = &shape_of(computation, instruction, 0);
    }
    if (of->kind != Shape::Kind::array || !is_floating(of->element)) {
        return {};
    }
    const double each =
        one_of(instruction.opcode, kTranscendental) ? vector_unit::kTranscendental : 1;
    return sim::Flops(each * of->elements());
}

}  // namespace podsim::workloads::hlo
