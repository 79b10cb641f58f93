#include "workloads/hlo_costs/collectives.h"

#include <algorithm>

#include "workloads/hlo/device_groups.h"
#include "workloads/hlo_costs/doing.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

std::string written(const Instruction& instruction, std::string_view key) {
    return std::string(instruction.find(key).value_or(std::string_view()));
}

/// What a collective results in: of `-start` the part of its tuple that its end gives.
Shape result_of(const Instruction& instruction) {
    const Shape& shape = instruction.shape;
    if (!is_start(instruction) || shape.kind != Shape::Kind::tuple || shape.parts.size() < 2 ||
        instruction.opcode == "all-reduce-start") {
        return shape;
    }
    return shape.parts[1];
}

Shape operands_of(const Computation& computation, const Instruction& instruction) {
    Shape all;
    all.kind = Shape::Kind::tuple;
    for (const std::uint32_t operand : instruction.operands) {
        all.parts.push_back(computation.instructions[operand].shape);
    }
    return all;
}

/// A place that is worked out from the device's number: within so many steps back.
bool from_device_number(const Computation& computation, std::uint32_t number) {
    std::vector<std::uint32_t> open{number};
    std::vector<bool> seen(computation.instructions.size());
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        if (seen[at]) {
            continue;
        }
        seen[at] = true;
        const Instruction& instruction = computation.instructions[at];
        if (instruction.opcode == "partition-id" || instruction.opcode == "replica-id") {
            return true;
        }
        if (is_elementwise(instruction) || is_view(instruction) || instruction.opcode == "fusion") {
            open.insert(open.end(), instruction.operands.begin(), instruction.operands.end());
        }
    }
    return false;
}

/// All that reads `number`, through views and conversions, are dynamic-slices of 1/g of it at the device's place.
bool only_sliced(const Computation& computation, const Users& users, std::uint32_t number,
                 double parts, double elements) {
    if (users[number].empty()) {
        return false;
    }
    return std::ranges::all_of(users[number], [&](std::uint32_t user) {
        const Instruction& reader = computation.instructions[user];
        if (reader.opcode == "dynamic-slice") {
            return reader.operands.front() == number &&
                   reader.shape.elements() * parts == elements &&
                   std::any_of(
                       reader.operands.begin() + 1, reader.operands.end(),
                       [&](std::uint32_t place) { return from_device_number(computation, place); });
        }
        const bool passes = is_view(reader) || reader.opcode == "convert" ||
                            reader.opcode == "copy" || reader.opcode == "all-reduce-done";
        return passes && only_sliced(computation, users, user, parts, elements);
    });
}

/// Members of a group; 0 where everybody is in it.
double group_size(const Instruction& instruction) {
    const std::string groups = written(instruction, "replica_groups");
    if (groups.empty()) {
        return 0;
    }
    const DeviceGroups read = read_groups(groups);
    return read.groups.empty() ? 0 : static_cast<double>(read.groups.front().size());
}

bool is_reduce_scatter(const Module& module, const Computation& computation,
                       const Instruction& instruction, const Users& users, bool in_fusion) {
    if (base_opcode(instruction) != "all-reduce") {
        return false;
    }
    const auto number = static_cast<std::uint32_t>(&instruction - computation.instructions.data());
    if (in_fusion) {
        // The fusion is XLA's own ReduceScatter: what reads the sum is a dynamic-slice, whatever its place follows from.
        return !users[number].empty() &&
               std::ranges::all_of(users[number], [&](std::uint32_t user) {
                   const Instruction* reader = &computation.instructions[user];
                   while (is_view(*reader)) {
                       const auto at =
                           static_cast<std::uint32_t>(reader - computation.instructions.data());
                       if (users[at].size() != 1) {
                           return false;
                       }
                       reader = &computation.instructions[users[at].front()];
                   }
                   return reader->opcode == "dynamic-slice";
               });
    }
    double size = group_size(instruction);
    if (size == 0) {
        size = static_cast<double>(module.stated_devices().value_or(0));
    }
    const Shape result = result_of(instruction);
    return size > 1 && result.kind == Shape::Kind::array &&
           only_sliced(computation, users, number, size, result.elements());
}

FoundCollective found(const Module& module, const Computation& computation,
                      const Instruction& instruction, const Users& users, bool in_fusion) {
    FoundCollective one{.operation = operation_of(module, instruction),
                        .at = &instruction,
                        .groups = written(instruction, "replica_groups"),
                        .pairs = written(instruction, "source_target_pairs"),
                        .result = result_of(instruction).bytes()};
    switch (one.operation) {
        case collectives::Operation::reduce_scatter:
            one.stored = operands_of(computation, instruction).stored_bytes();
            break;
        case collectives::Operation::all_reduce:
            one.stored = result_of(instruction).stored_bytes();
            if (is_reduce_scatter(module, computation, instruction, users, in_fusion)) {
                one.operation = collectives::Operation::reduce_scatter;
                one.was_all_reduce = true;
            }
            break;
        case collectives::Operation::permute: {
            Shape operands = operands_of(computation, instruction);
            if (instruction.find("slice_sizes") && !operands.parts.empty()) {
                operands.parts.resize(
                    1);  // the others are the buffer that is written into, and places
            }
            one.stored = operands.stored_bytes();
            break;
        }
        case collectives::Operation::all_to_all:
            one.stored = operands_of(computation, instruction).stored_bytes();
            if (instruction.opcode.starts_with("ragged")) {
                one.stored =
                    computation.instructions[instruction.operands.front()].shape.stored_bytes();
            }
            break;
        default:
            one.stored = result_of(instruction).stored_bytes();
    }
    return one;
}

/// Those in what a fusion or a wrapper carries out.
void append_inner(const Module& module, const Instruction& wrapper,
                  std::vector<FoundCollective>& all) {
    const Computation* const inner = carried_out(module, wrapper);
    if (inner == nullptr) {
        return;
    }
    const Users users = users_of(*inner);
    for (const Instruction& each : inner->instructions) {
        if (!is_collective_opcode(base_opcode(each))) {
            append_inner(module, each, all);
        } else if (!is_done(each)) {
            all.push_back(found(module, *inner, each, users, true));
        }
    }
}

}  // namespace

collectives::Operation operation_of(const Module& module, const Instruction& instruction) {
    const std::string_view opcode = base_opcode(instruction);
    if (opcode == "all-gather") {
        return collectives::Operation::all_gather;
    }
    if (opcode == "all-reduce") {
        return collectives::Operation::all_reduce;
    }
    if (opcode == "reduce-scatter") {
        return collectives::Operation::reduce_scatter;
    }
    if (opcode == "all-to-all" || opcode == "ragged-all-to-all") {
        return collectives::Operation::all_to_all;
    }
    if (opcode == "collective-permute") {
        return collectives::Operation::permute;
    }
    if (opcode == "collective-broadcast") {
        return collectives::Operation::broadcast;
    }
    throw module.error(instruction, "podsim has no such collective");
}

std::vector<FoundCollective> collectives_of(const Module& module, const Computation& computation,
                                            const Instruction& instruction, const Users& users) {
    if (is_collective_opcode(base_opcode(instruction))) {
        return is_done(instruction)
                   ? std::vector<FoundCollective>{}
                   : std::vector{found(module, computation, instruction, users, false)};
    }
    std::vector<FoundCollective> all;
    append_inner(module, instruction, all);
    return all;
}

}  // namespace podsim::workloads::hlo
