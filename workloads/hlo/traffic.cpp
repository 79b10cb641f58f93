#include "workloads/hlo/traffic.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "workloads/hlo/doing.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

constexpr std::array<std::string_view, 24> kTranscendentalOps{
    "acos",  "acosh",        "asin",
    "asinh", "atanh",        "cosh",
    "sinh",  "exponential",  "exponential-minus-one",
    "log",   "log-plus-one", "logistic",
    "power", "rsqrt",        "sqrt",
    "cbrt",  "tanh",         "tan",
    "sine",  "cosine",       "divide",
    "erf",   "atan2",        "remainder"};

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

}  // namespace

Traffic::Fused& Traffic::fused(const Computation& computation) {
    const auto [entry, added] = known_.try_emplace(&computation);
    Fused& made = entry->second;
    if (added) {
        made.users = users_of(computation);
        made.read.resize(computation.instructions.size());
        for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
            const Instruction& at = computation.instructions[i];
            const bool view = is_view(at) && !at.operands.empty();
            made.source.push_back(view ? made.source[at.operands.front()] : i);
        }
    }
    return made;
}

/// Returns the bytes read of a value within a fusion: all of it, or only slices; none if it is only
/// written into.
sim::Bytes Traffic::read_of(const Computation& computation, std::uint32_t number) {
    std::optional<sim::Bytes>& known = fused(computation).read[number];
    if (!known) {
        known = read_by(computation, number);
    }
    return *known;
}

sim::Bytes Traffic::read_by(const Computation& computation, std::uint32_t number) {
    const Users& users = fused(computation).users;
    const sim::Bytes whole = in_hbm(computation.instructions[number].shape);
    sim::Bytes parts;
    std::vector<std::uint32_t> open{number};  // and its views, which have one operand each
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t user : users[at]) {
            const Instruction& reader = computation.instructions[user];
            const bool of_it = reader.operands.front() == at;
            const Computation* const inner = carried_out(module_, reader);
            if (is_view(reader)) {
                open.push_back(user);
            } else if (inner != nullptr) {
                for (std::size_t i = 0; i < reader.operands.size(); ++i) {
                    const Instruction* const parameter =
                        inner->parameter(static_cast<std::int64_t>(i));
                    if (reader.operands[i] == at && parameter != nullptr) {
                        parts += read_of(*inner, static_cast<std::uint32_t>(
                                                     parameter - inner->instructions.data()));
                    }
                }
            } else if (reader.opcode == "dynamic-slice" || reader.opcode == "slice" ||
                       reader.opcode == "gather") {
                parts += of_it ? reader.shape.stored_bytes() : whole;
            } else if (reader.opcode == "dynamic-update-slice") {
                parts += of_it ? sim::Bytes() : whole;
            } else {
                return whole;
            }
            if (parts >= whole) {
                return whole;
            }
        }
    }
    return parts;
}

/// Returns the bytes written of a result that instruction `number` of a fusion makes.
sim::Bytes Traffic::written_of(const Computation& computation, std::uint32_t number,
                               const Shape& result) {
    const Instruction& at = computation.instructions[fused(computation).source[number]];
    if (const Computation* const inner = carried_out(module_, at)) {
        return written_of(*inner, inner->root, result);
    }
    if (at.opcode == "dynamic-update-slice") {
        return std::min(in_hbm(result), shape_of(computation, at, 1).stored_bytes());
    }
    return at.opcode == "parameter" ? sim::Bytes() : in_hbm(result);
}

sim::Bytes Traffic::of_fusion(const Instruction& instruction, const Computation& computation,
                              const Computation& carried) {
    sim::Bytes bytes;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
        const Instruction* const parameter = carried.parameter(static_cast<std::int64_t>(i));
        const sim::Bytes whole = in_hbm(shape_of(computation, instruction, i));
        if (parameter == nullptr || whole.value() == 0) {
            bytes += whole;
            continue;
        }
        const auto number = static_cast<std::uint32_t>(parameter - carried.instructions.data());
        bytes += std::min(whole, read_of(carried, number));
    }
    const Instruction& root = carried.root_instruction();
    const Shape& result = is_start(instruction) ? started(instruction) : instruction.shape;
    if (root.opcode == "tuple" && result.parts.size() == root.operands.size()) {
        for (std::size_t i = 0; i < root.operands.size(); ++i) {
            bytes += written_of(carried, root.operands[i], result.parts[i]);
        }
        return bytes;
    }
    return bytes + written_of(carried, carried.root, result);
}

sim::Bytes Traffic::hbm_of(const Computation& computation, const Instruction& instruction) {
    if (const Computation* const carried = carried_out(module_, instruction)) {
        return of_fusion(instruction, computation, *carried);
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
    if ((instruction.opcode == "reduce" || instruction.opcode == "compare") &&
        !instruction.operands.empty()) {
        of = &shape_of(computation, instruction, 0);
    }
    if (of->kind != Shape::Kind::array || !is_floating(of->element)) {
        return {};
    }
    const double each =
        one_of(instruction.opcode, kTranscendentalOps) ? vector_unit::kTranscendental : 1;
    return sim::Flops(each * of->elements());
}

}  // namespace podsim::workloads::hlo
