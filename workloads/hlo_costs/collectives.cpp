#include "workloads/hlo_costs/collectives.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "workloads/hlo/device_counts.h"
#include "workloads/hlo_costs/doing.h"

namespace podsim::workloads::hlo {
namespace {

using Users = std::vector<std::vector<std::uint32_t>>;

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

/// A place that is worked out from the device's number.
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

/// What whole numbers are on one device, where they follow from the device's number.
class OnDevice {
public:
    OnDevice(const Computation& computation, std::int64_t device, const DeviceCounts& counts)
        : computation_(computation), device_(device), counts_(counts) {}

    /// Nothing where it is not known how.
    std::optional<std::int64_t> of(std::uint32_t number, int depth = 0) {
        constexpr int kDeepest = 64;
        if (const auto found = known_.find(number); found != known_.end()) {
            return found->second;
        }
        const auto value = depth > kDeepest ? std::nullopt : worked_out(number, depth + 1);
        known_[number] = value;
        return value;
    }

private:
    std::optional<std::int64_t> worked_out(std::uint32_t number, int depth) {
        const Instruction& at = computation_.instructions[number];
        const std::string& opcode = at.opcode;
        if (opcode == "partition-id") {
            return numbers_all(counts_.partitions) ? device_ : device_ % counts_.partitions;
        }
        if (opcode == "replica-id") {
            return numbers_all(counts_.replicas) ? device_ : device_ / counts_.partitions;
        }
        if (opcode == "constant") {
            const std::vector<std::int64_t> one = list_in('{' + at.literal + '}');
            return one.size() == 1 ? std::optional(one.front()) : std::nullopt;
        }
        if ((is_view(at) || opcode == "convert" || opcode == "copy") && at.operands.size() == 1) {
            return of(at.operands[0], depth);
        }
        if (at.operands.size() != 2) {
            return std::nullopt;
        }
        if (opcode == "dynamic-slice") {
            // A table of places, by the device.
            const auto index = of(at.operands[1], depth);
            const std::vector<std::int64_t> table =
                list_in(computation_.instructions[at.operands[0]].literal);
            return index && *index >= 0 && *index < static_cast<std::int64_t>(table.size())
                       ? std::optional(table[static_cast<std::size_t>(*index)])
                       : std::nullopt;
        }
        const auto a = of(at.operands[0], depth);
        const auto b = of(at.operands[1], depth);
        constexpr std::int64_t kMost = std::int64_t{1} << 30;
        if (!a || !b || std::abs(*a) > kMost || std::abs(*b) > kMost) {
            return std::nullopt;
        }
        if (opcode == "add" || opcode == "subtract") {
            return opcode == "add" ? *a + *b : *a - *b;
        }
        if (opcode == "multiply") {
            return *a * *b;
        }
        if ((opcode == "divide" || opcode == "remainder") && *b > 0 && *a >= 0) {
            return opcode == "divide" ? *a / *b : *a % *b;
        }
        return std::nullopt;
    }

    /// Nothing says how many there are, so that the number is the device's.
    [[nodiscard]] bool numbers_all(std::int64_t count) const {
        return !counts_.stated && count == 1;
    }

    /// Of `{0, 8, 16}`; empty for what is no list of whole numbers, `{...}` of a constant that was left out among them.
    static std::vector<std::int64_t> list_in(const std::string& literal) {
        try {
            return numbers_in(literal);
        } catch (const sim::InputError&) {
            return {};
        }
    }

    const Computation& computation_;
    const std::int64_t device_;
    const DeviceCounts& counts_;
    std::map<std::uint32_t, std::optional<std::int64_t>> known_;
};

/// Members of one group read different places, or it is not known which.
bool places_differ(const Computation& computation, const Instruction& slice,
                   const std::vector<std::int64_t>& group, const DeviceCounts& counts) {
    std::set<std::vector<std::int64_t>> places;
    for (const std::int64_t device : group) {
        OnDevice on_device(computation, device, counts);
        std::vector<std::int64_t> place;
        for (std::size_t i = 1; i < slice.operands.size(); ++i) {
            const auto one = on_device.of(slice.operands[i]);
            if (!one) {
                return true;
            }
            place.push_back(*one);
        }
        places.insert(std::move(place));
    }
    return places.size() == group.size();
}

/// All that reads `number`, through views and conversions, are dynamic-slices of 1/g of it; outside of fusions at the device's place.
bool only_sliced(const Computation& computation, const Users& users, std::uint32_t number,
                 double parts, double elements, bool in_fusion,
                 const std::vector<std::int64_t>& group, const DeviceCounts& counts) {
    std::vector<std::uint32_t> open{number};
    std::vector<bool> seen(computation.instructions.size());
    bool sliced = false;
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t user : users[at]) {
            const Instruction& reader = computation.instructions[user];
            if (reader.opcode == "dynamic-slice") {
                const bool of_it = reader.operands.front() == at;
                const bool part = reader.shape.elements() * parts == elements;
                const bool placed =
                    in_fusion || (places_differ(computation, reader, group, counts) &&
                                  std::any_of(reader.operands.begin() + 1, reader.operands.end(),
                                              [&](std::uint32_t place) {
                                                  return from_device_number(computation, place);
                                              }));
                if (!of_it || !part || !placed) {
                    return false;
                }
                sliced = true;
            } else if (is_view(reader) || reader.opcode == "convert" || reader.opcode == "copy" ||
                       reader.opcode == "all-reduce-done") {
                if (!seen[user]) {
                    seen[user] = true;
                    open.push_back(user);
                }
            } else {
                return false;
            }
        }
    }
    return sliced;
}

bool is_reduce_scatter(const Module& module, const Computation& computation,
                       const Instruction& instruction, const Users& users, bool in_fusion) {
    if (base_opcode(instruction) != "all-reduce") {
        return false;
    }
    const auto number = static_cast<std::uint32_t>(&instruction - computation.instructions.data());
    const DeviceCounts counts = device_counts(module);
    const DeviceGroups groups = participants(instruction, counts);
    const std::vector<std::int64_t> group =
        groups.groups.empty() ? std::vector<std::int64_t>{} : groups.groups.front();
    const auto size = static_cast<double>(group.empty() ? module.stated_devices().value_or(0)
                                                        : static_cast<std::int64_t>(group.size()));
    const Shape result = result_of(instruction);
    return size > 1 && result.kind == Shape::Kind::array &&
           only_sliced(computation, users, number, size, result.elements(), in_fusion, group,
                       counts);
}

FoundCollective found(const Module& module, const Computation& computation,
                      const Instruction& instruction, const Users& users, bool in_fusion) {
    FoundCollective one{.operation = operation_of(module, instruction),
                        .at = &instruction,
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
