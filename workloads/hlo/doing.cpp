#include "workloads/hlo/doing.h"

#include <algorithm>

namespace podsim::workloads::hlo {
namespace {

/// True if `name` is a word of a list.
bool among(std::string_view name, std::string_view words) {
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        if (words.substr(0, end) == name) {
            return true;
        }
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

constexpr std::string_view kCollectives =
    "all-gather all-reduce reduce-scatter all-to-all collective-permute "
    "collective-broadcast ragged-all-to-all";

constexpr std::string_view kNames =
    "parameter constant tuple get-tuple-element bitcast after-all partition-id "
    "replica-id opt-barrier optimization-barrier add-dependency domain async-update "
    "get-dimension-size rng-get-and-update-state bitcast-convert infeed";

constexpr std::string_view kElementwise =
    "abs acos acosh asin asinh atanh cosh sinh add and atan2 broadcast cbrt ceil clamp "
    "compare complex concatenate convert copy cosine count-leading-zeros divide erf "
    "exponential exponential-minus-one floor imag iota is-finite log log-plus-one "
    "logistic map maximum minimum multiply negate not or pad popcnt power real reduce "
    "reduce-precision remainder reshape reverse round-nearest-afz round-nearest-even "
    "rsqrt select shift-left shift-right-arithmetic shift-right-logical sign sine slice "
    "sqrt stochastic-convert subtract tan tanh transpose xor dynamic-slice rng "
    "rng-bit-generator dynamic-update-slice";

/// These run other computations or have costs of their own.
constexpr std::string_view kRun =
    "while conditional call fusion async custom-call convolution dot send recv "
    "ragged-dot scaled-dot";

/// These move data and cost only their bytes.
constexpr std::string_view kMoves =
    "gather scatter sort topk outfeed dynamic-reshape set-dimension-size";

constexpr std::string_view kFreeCustomCalls =
    "AssumeGatherIndicesInBound ConcatBitcast Sharding SPMDFullToShardShape "
    "SPMDShardToFullShape annotate_device_placement";

bool ends_with(std::string_view text, std::string_view end) {
    return text.ends_with(end);
}

std::string_view target(const Instruction& instruction) {
    return instruction.text("custom_call_target");
}

bool holds_collective(const Module& module, const Computation& computation) {
    return std::ranges::any_of(computation.instructions, [&](const Instruction& each) {
        const Computation* const inner = carried_out(module, each);
        return is_collective_opcode(base_opcode(each)) ||
               (inner != nullptr && holds_collective(module, *inner));
    });
}

/// True if an instruction moves data between HBM and the host: exactly one end is in the host's
/// memory.
bool crosses_to_host(const Computation& computation, const Instruction& instruction) {
    const bool result = instruction.shape.sums.at_host;
    const bool from = std::ranges::any_of(instruction.operands, [&](std::uint32_t operand) {
        return computation.instructions[operand].shape.sums.at_host;
    });
    if (is_start(instruction)) {
        const std::string_view base = base_opcode(instruction);
        const bool to = started(instruction).sums.at_host;
        // Data that goes into a buffer at the host comes from outside of it.
        return base == "dynamic-update-slice" || base == "async" ? to || from : to != from;
    }
    if (instruction.opcode == "dynamic-update-slice" || instruction.opcode == "fusion") {
        return result || from;
    }
    return result != from;
}

}  // namespace

bool is_start(const Instruction& instruction) {
    return ends_with(instruction.opcode, "-start") || instruction.opcode == "send" ||
           instruction.opcode == "recv";
}

bool is_done(const Instruction& instruction) {
    return ends_with(instruction.opcode, "-done");
}

std::string_view base_opcode(const Instruction& instruction) {
    std::string_view opcode = instruction.opcode;
    for (const std::string_view end : {"-start", "-done"}) {
        if (opcode.ends_with(end)) {
            opcode.remove_suffix(end.size());
        }
    }
    return opcode;
}

bool is_collective_opcode(std::string_view opcode) {
    return among(opcode, kCollectives);
}

bool is_elementwise(const Instruction& instruction) {
    return among(instruction.opcode, kElementwise);
}

bool is_known_opcode(const Instruction& instruction) {
    const std::string_view opcode = base_opcode(instruction);
    return among(opcode, kNames) || among(opcode, kElementwise) || among(opcode, kRun) ||
           among(opcode, kMoves) || is_collective_opcode(opcode);
}

bool is_view(const Instruction& instruction) {
    return instruction.opcode == "bitcast" || instruction.opcode == "reshape" ||
           instruction.opcode == "get-tuple-element" || instruction.opcode == "copy-done" ||
           instruction.opcode == "opt-barrier" || instruction.opcode == "bitcast-convert";
}

const Computation* carried_out(const Module& module, const Instruction& instruction) {
    const bool wraps = instruction.opcode == "fusion" || instruction.opcode == "async-start" ||
                       (ends_with(instruction.opcode, "-start") && !instruction.called.empty() &&
                        !is_collective_opcode(base_opcode(instruction)));
    return wraps && !instruction.called.empty() && instruction.called[0] != kNothing
               ? &module.computations[instruction.called[0]]
               : nullptr;
}

Doing doing_of(const Module& module, const Computation& computation,
               const Instruction& instruction) {
    const std::string& opcode = instruction.opcode;
    if (is_done(instruction) || among(opcode, kNames)) {
        return Doing::nothing;
    }
    if (opcode == "while") {
        return Doing::loop;
    }
    if (opcode == "conditional") {
        return Doing::branches;
    }
    if (opcode == "call") {
        return Doing::call;
    }
    if (is_collective_opcode(base_opcode(instruction))) {
        return Doing::collective;
    }
    if (opcode == "send" || opcode == "recv") {
        return instruction.find("is_host_transfer") == "true" ? Doing::host_copy : Doing::nothing;
    }
    if (opcode == "custom-call") {
        const std::string_view name = target(instruction);
        if (name == "MoveToHost" || name == "MoveToDevice") {
            return Doing::host_copy;
        }
        return among(name, kFreeCustomCalls) || name.starts_with("xla.sdy.") ? Doing::nothing
                                                                             : Doing::kernel;
    }
    const Computation* const inner = carried_out(module, instruction);
    if (inner != nullptr && holds_collective(module, *inner)) {
        return Doing::collective;
    }
    if (is_start(instruction) || opcode == "copy" || opcode == "dynamic-update-slice" ||
        opcode == "dynamic-slice" || opcode == "slice" || opcode == "fusion") {
        if (crosses_to_host(computation, instruction)) {
            return Doing::host_copy;
        }
    }
    if (is_elementwise(instruction) && opcode != "reduce" &&
        instruction.shape.kind == Shape::Kind::array && instruction.shape.elements() <= 1) {
        return Doing::nothing;  // the scalar unit computes it
    }
    const bool moves =
        inner == nullptr || std::ranges::all_of(inner->instructions, [](const Instruction& each) {
            return each.opcode == "parameter" || each.opcode == "slice" || each.opcode == "copy" ||
                   each.opcode == "dynamic-slice" || each.opcode == "constant" || is_view(each);
        });
    return is_start(instruction) && moves ? Doing::prefetch : Doing::kernel;
}

const Shape& started(const Instruction& instruction) {
    const Shape& shape = instruction.shape;
    if (shape.kind != Shape::Kind::tuple || shape.parts.empty()) {
        return shape;
    }
    return shape.parts[instruction.opcode == "copy-start" || shape.parts.size() < 2 ? 0 : 1];
}

HostWay way_of(const Instruction& instruction) {
    if (instruction.opcode == "custom-call") {
        return target(instruction) == "MoveToHost" ? HostWay::to_host : HostWay::to_chip;
    }
    if (instruction.opcode == "send" || instruction.opcode == "recv") {
        return instruction.opcode == "send" ? HostWay::to_host : HostWay::to_chip;
    }
    const Shape& result = is_start(instruction) ? started(instruction) : instruction.shape;
    return result.sums.at_host ? HostWay::to_host : HostWay::to_chip;
}

std::vector<std::vector<std::uint32_t>> users_of(const Computation& computation) {
    std::vector<std::vector<std::uint32_t>> users(computation.instructions.size());
    for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
        for (const std::uint32_t operand : computation.instructions[i].operands) {
            if (users[operand].empty() || users[operand].back() != i) {
                users[operand].push_back(i);
            }
        }
    }
    return users;
}

}  // namespace podsim::workloads::hlo
