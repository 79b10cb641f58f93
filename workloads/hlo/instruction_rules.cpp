#include "workloads/hlo/instruction_rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/hlo/operands.h"
#include "workloads/hlo/text.h"
#include "workloads/hlo/whole_numbers.h"

namespace podsim::workloads::hlo {
namespace {

/// True if element types and dimensions are the same, in tuples those of all elements.
bool is_alike(const Shape& one, const Shape& other) {
    return one.kind == other.kind && one.element == other.element && one.dims == other.dims &&
           std::ranges::equal(one.parts, other.parts, is_alike);
}

/// Reads a whole number, which a comment may follow; nothing for other texts.
std::optional<std::int64_t> whole_in(std::string_view written) {
    Text text(written);
    try {
        const std::int64_t value = text.number();
        return text.at_end() ? std::optional(value) : std::nullopt;
    } catch (const sim::InputError&) {
        return std::nullopt;
    }
}

bool is_truth(std::string_view written) {
    Text text(written);
    return (text.take("true") || text.take("false")) && text.at_end();
}

std::string wrong_element(const Instruction& at, const Shape& tuple) {
    const auto written = at.find("index");
    if (!written) {
        return "a get-tuple-element without an index";
    }
    const auto index = whole_in(*written);
    if (!index) {
        return fmt::format("index={:.24}, which is no whole number", *written);
    }
    if (tuple.kind != Shape::Kind::tuple) {
        return "a get-tuple-element of what is no tuple";
    }
    if (*index < 0 || *index >= static_cast<std::int64_t>(tuple.parts.size())) {
        return fmt::format("element {} of a tuple of {}", *index, tuple.parts.size());
    }
    return is_alike(at.shape, tuple.parts[static_cast<std::size_t>(*index)])
               ? std::string()
               : fmt::format("its shape is not that of element {}", *index);
}

std::string wrong_tuple(const Instruction& at, const Computation& computation) {
    const bool fits = at.shape.kind == Shape::Kind::tuple &&
                      std::ranges::equal(at.shape.parts, at.operands, is_alike, {},
                                         [&](std::uint32_t operand) -> const Shape& {
                                             return computation.instructions[operand].shape;
                                         });
    return fits ? std::string() : "a tuple of another shape than its operands";
}

/// True if the result is the operand times a whole number along one dimension.
bool is_gathered(const Shape& result, const Shape& operand, std::size_t along) {
    if (result.dims.size() != operand.dims.size() || along >= result.dims.size()) {
        return false;
    }
    for (std::size_t i = 0; i < result.dims.size(); ++i) {
        const std::int64_t from = operand.dims[i];
        const std::int64_t to = result.dims[i];
        if (i == along && from > 0 ? to < from || to % from != 0 : to != from) {
            return false;
        }
    }
    return true;
}

std::string wrong_gather(const Instruction& at, const Computation& computation) {
    std::vector<std::int64_t> dimensions;
    try {
        dimensions = at.numbers("dimensions");
    } catch (const sim::InputError& error) {
        return "dimensions: " + error.problem();
    }
    if (dimensions.size() != 1 || dimensions.front() < 0) {
        return "an all-gather has one dimension";
    }
    const Shape* result = &at.shape;
    if (at.opcode.ends_with("-start") && result->parts.size() >= 2) {
        result = &result->parts[1];
    }
    const bool several = result->kind == Shape::Kind::tuple;
    if ((several ? result->parts.size() : 1) != at.operands.size()) {
        return "an all-gather of another number of results than operands";
    }
    for (std::size_t i = 0; i < at.operands.size(); ++i) {
        if (!is_gathered(several ? result->parts[i] : *result,
                         computation.instructions[at.operands[i]].shape,
                         static_cast<std::size_t>(dimensions.front()))) {
            return fmt::format(
                "its result is not its operand times a whole number along dimension {}",
                dimensions.front());
        }
    }
    return {};
}

/// Opcodes whose results may be operations that were started elsewhere.
constexpr std::array<std::string_view, 9> kPassedOn{
    "get-tuple-element",    "parameter", "while", "conditional", "call", "opt-barrier",
    "optimization-barrier", "send",      "recv"};

/// Returns `all-reduce` for `all-reduce-start`, `-update` and `-done`; nothing for others.
std::optional<std::string_view> begun_by(std::string_view opcode) {
    for (const std::string_view end : {"-start", "-update", "-done"}) {
        if (opcode.ends_with(end)) {
            return opcode.substr(0, opcode.size() - end.size());
        }
    }
    return std::nullopt;
}

std::string wrong_end(const Instruction& at, const Instruction& begun) {
    const std::string_view opcode = begun.opcode;
    if (std::ranges::find(kPassedOn, opcode) != kPassedOn.end()) {
        return {};
    }
    const auto own = begun_by(at.opcode);
    const auto its = opcode.ends_with("-done") ? std::nullopt : begun_by(opcode);
    const bool fits = its && (*its == *own || *its == "async" || *own == "async");
    return fits ? std::string()
                : fmt::format("{} of {}, which does not begin it", at.opcode, opcode);
}

std::string wrong_constant(const Instruction& at) {
    const auto range = at.shape.dims.empty() ? range_of(at.shape) : std::nullopt;
    const auto value = range && range->whole ? wide_in(at.literal) : std::nullopt;
    return value && !range->can_be_written(*value)
               ? fmt::format("{:.24} is beyond {}", at.literal, at.shape.element)
               : std::string();
}

std::string wrong_in_itself(const Instruction& at, const Computation& computation) {
    const std::string& opcode = at.opcode;
    if (opcode == "constant") {
        return wrong_constant(at);
    }
    if (opcode == "tuple") {
        return wrong_tuple(at, computation);
    }
    if (at.operands.empty()) {
        return {};
    }
    const Instruction& first = computation.instructions[at.operands.front()];
    if (opcode == "get-tuple-element") {
        return wrong_element(at, first.shape);
    }
    if (opcode == "all-gather" || opcode == "all-gather-start") {
        return wrong_gather(at, computation);
    }
    if (opcode == "collective-permute" || opcode == "collective-permute-start") {
        return at.find("source_target_pairs") ? std::string()
                                              : opcode + " without source_target_pairs";
    }
    return opcode.ends_with("-done") || opcode.ends_with("-update") ? wrong_end(at, first)
                                                                    : std::string();
}

/// Returns an error if an instruction calls fewer than `least` computations.
std::string wrong_names(const Instruction& at, std::size_t least, const char* what) {
    return at.called.size() < least ? fmt::format("{} without {}", at.opcode, what) : std::string();
}

}  // namespace

std::string wrong_instruction(const Instruction& instruction, const Computation& computation) {
    if (std::string wrong = wrong_operands(instruction); !wrong.empty()) {
        return wrong;
    }
    if (const auto ids = instruction.find("use_global_device_ids"); ids && !is_truth(*ids)) {
        return fmt::format("'{}': use_global_device_ids={:.24}, which is neither true nor false",
                           instruction.name, *ids);
    }
    const std::string wrong = wrong_in_itself(instruction, computation);
    return wrong.empty() ? wrong : fmt::format("'{}': {}", instruction.name, wrong);
}

std::string wrong_calls(const Instruction& instruction) {
    const std::string& opcode = instruction.opcode;
    if (opcode == "conditional") {
        return wrong_names(instruction, 1, "branches");
    }
    if (opcode == "while") {
        return !instruction.find("condition") || !instruction.find("body") ||
                       instruction.called.size() != 2
                   ? "while without a condition and a body"
                   : std::string();
    }
    return opcode == "fusion" || opcode == "call" || opcode == "async-start"
               ? wrong_names(instruction, 1, "a computation")
               : std::string();
}

std::string key_twice(const std::vector<Attribute>& attributes) {
    std::vector<std::string_view> keys;
    keys.reserve(attributes.size());
    for (const Attribute& attribute : attributes) {
        keys.emplace_back(attribute.key);
    }
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    return twice == keys.end() ? std::string() : std::string(*twice);
}

}  // namespace podsim::workloads::hlo
