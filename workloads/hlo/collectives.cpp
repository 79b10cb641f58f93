#include "workloads/hlo/collectives.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/doing.h"
#include "workloads/hlo/on_device.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

/// Returns the result of a collective; for `-start` the element of its tuple that `-done` returns.
const Shape& result_of(const Instruction& instruction) {
    const Shape& shape = instruction.shape;
    if (!is_start(instruction) || shape.kind != Shape::Kind::tuple || shape.parts.size() < 2 ||
        instruction.opcode == "all-reduce-start") {
        return shape;
    }
    return shape.parts[1];
}

/// Sums the bytes of the first `most` operands.
sim::Bytes stored_operands(const Computation& computation, const Instruction& instruction,
                           std::size_t most) {
    sim::Bytes sum;
    for (std::size_t i = 0; i < std::min(most, instruction.operands.size()); ++i) {
        sum += computation.instructions[instruction.operands[i]].shape.stored_bytes();
    }
    return sum;
}

/// True if no two rows of `width` numbers are equal.
bool all_differ(std::vector<std::int64_t>& rows, std::size_t width) {
    if (width == 1) {
        std::ranges::sort(rows);
        return std::ranges::adjacent_find(rows) == rows.end();
    }
    std::vector<std::span<const std::int64_t>> sorted;
    for (std::size_t at = 0; at < rows.size(); at += width) {
        sorted.emplace_back(rows.data() + at, width);
    }
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
        return std::ranges::lexicographical_compare(a, b);
    });
    return std::ranges::adjacent_find(sorted, [](const auto& a, const auto& b) {
               return std::ranges::equal(a, b);
           }) == sorted.end();
}

}  // namespace

/// True if a position follows from the device's number.
bool Collectives::from_device_number(std::uint32_t number) {
    const std::size_t count = computation_.instructions.size();
    for (std::size_t i = from_device_number_.size(); i < count; ++i) {
        const Instruction& at = computation_.instructions[i];
        const bool follows = is_elementwise(at) || is_view(at) || at.opcode == "fusion";
        from_device_number_.push_back(
            at.opcode == "partition-id" || at.opcode == "replica-id" ||
            (follows && std::ranges::any_of(at.operands, [&](std::uint32_t operand) {
                 return from_device_number_[operand];
             })));
    }
    return from_device_number_[number];
}

/// True if a slice's position follows from the device's number and differs among the members of a
/// group, or if it is unknown whether it differs.
bool Collectives::is_placed(const Instruction& all_reduce, const Instruction& slice) {
    const std::vector<std::uint32_t> places(slice.operands.begin() + 1, slice.operands.end());
    if (std::ranges::none_of(places,
                             [&](std::uint32_t place) { return from_device_number(place); })) {
        return false;
    }
    const DeviceCounts counts = device_counts(module_);
    OnDevice on_device(computation_, counts, all_reduce, budget_);
    std::vector<std::size_t> numbers;
    for (const std::uint32_t place : places) {
        const auto number = on_device.add(place);
        if (!number) {
            return true;
        }
        numbers.push_back(*number);
    }
    const Participants members = participants(module_, all_reduce, counts);
    if (members.everybody) {
        return true;
    }
    constexpr double kStepsOfMember = 20;  // to compare its position with others
    budget_.spend(all_reduce, static_cast<double>(members.size) *
                                  (static_cast<double>(on_device.steps()) +
                                   kStepsOfMember * static_cast<double>(numbers.size())));
    std::vector<std::int64_t> places_of_all;
    std::vector<std::int64_t> values;
    for (const std::int64_t device : members.first()) {
        if (!on_device.run(device, values)) {
            return true;
        }
        for (const std::size_t number : numbers) {
            places_of_all.push_back(values[number]);
        }
    }
    return all_differ(places_of_all, numbers.size());
}

/// True if all users, through views and conversions, are dynamic-slices of 1/g; outside of fusions,
/// at the device's position.
bool Collectives::is_reduce_scatter(const Instruction& instruction, bool in_fusion) {
    const Shape& result = result_of(instruction);
    if (result.kind != Shape::Kind::array) {
        return false;
    }
    const Participants members = participants(module_, instruction, device_counts(module_));
    const auto size = static_cast<double>(members.everybody ? module_.stated_devices().value_or(0)
                                                            : members.size);
    if (size <= 1) {
        return false;
    }
    bool sliced = false;
    // Views have one operand each, so no instruction is visited twice.
    std::vector<std::uint32_t> open{
        static_cast<std::uint32_t>(&instruction - computation_.instructions.data())};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t user : users_[at]) {
            const Instruction& reader = computation_.instructions[user];
            if (reader.opcode == "dynamic-slice") {
                if (reader.operands.front() != at ||
                    reader.shape.elements() * size != result.elements() ||
                    !(in_fusion || is_placed(instruction, reader))) {
                    return false;
                }
                sliced = true;
            } else if (is_view(reader) || reader.opcode == "convert" || reader.opcode == "copy" ||
                       reader.opcode == "all-reduce-done") {
                open.push_back(user);
            } else {
                return false;
            }
        }
    }
    return sliced;
}

FoundCollective Collectives::found(const Instruction& instruction, bool in_fusion) {
    FoundCollective one{.operation = operation_of(module_, instruction),
                        .at = &instruction,
                        .result = result_of(instruction).bytes()};
    const bool first_alone =  // the others are the buffer that is written into, and positions
        (one.operation == collectives::Operation::permute && instruction.find("slice_sizes")) ||
        instruction.opcode.starts_with("ragged");
    switch (one.operation) {
        case collectives::Operation::all_reduce:
            one.stored = result_of(instruction).stored_bytes();
            if (is_reduce_scatter(instruction, in_fusion)) {
                one.operation = collectives::Operation::reduce_scatter;
                one.was_all_reduce = true;
            }
            break;
        case collectives::Operation::reduce_scatter:
        case collectives::Operation::permute:
        case collectives::Operation::all_to_all:
            one.stored = stored_operands(computation_, instruction,
                                         first_alone ? 1 : instruction.operands.size());
            break;
        default:
            one.stored = result_of(instruction).stored_bytes();
    }
    return one;
}

/// Appends the collectives in the computation that a fusion or a wrapper carries out.
void Collectives::append_inner(const Instruction& wrapper, std::vector<FoundCollective>& all) {
    const Computation* const inner = carried_out(module_, wrapper);
    if (inner == nullptr) {
        return;
    }
    std::optional<Users> users;  // computed for the first new collective
    for (const Instruction& each : inner->instructions) {
        const bool collective = is_collective_opcode(base_opcode(each));
        if (!collective) {
            append_inner(each, all);
        } else if (!is_done(each)) {
            auto known = known_.find(&each);
            if (known == known_.end()) {
                users = users ? std::move(users) : users_of(*inner);
                known =
                    known_
                        .emplace(
                            &each,
                            Collectives(module_, *inner, *users, budget_, known_).found(each, true))
                        .first;
            }
            all.push_back(known->second);
        }
    }
}

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

std::vector<FoundCollective> Collectives::of(const Instruction& instruction) {
    std::vector<FoundCollective> all;
    if (!is_collective_opcode(base_opcode(instruction))) {
        append_inner(instruction, all);
    } else if (!is_done(instruction)) {
        all.push_back(found(instruction, false));
    }
    return all;
}

}  // namespace podsim::workloads::hlo
