#include "workloads/hlo/operands.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hlo/instruction_rules.h"

namespace podsim::workloads::hlo {
namespace {

struct OperandCount {
    std::string_view opcode;
    std::size_t least = 1;
    std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// The fewest operands with which an instruction has a meaning; exactly one for those that pass one
/// value on. Opcodes outside of the table take any number. An asynchronous form, `-start`, takes as
/// many as its opcode; `-update` and `-done` take the one that was started.
constexpr std::array<OperandCount, 81> kOperandCounts{{{"abs"},
                                                       {"acos"},
                                                       {"acosh"},
                                                       {"add"},
                                                       {"add-dependency"},
                                                       {"all-gather"},
                                                       {"all-reduce"},
                                                       {"all-to-all"},
                                                       {"and"},
                                                       {"asin"},
                                                       {"asinh"},
                                                       {"atan2"},
                                                       {"atanh"},
                                                       {"bitcast", 1, 1},
                                                       {"bitcast-convert", 1, 1},
                                                       {"broadcast"},
                                                       {"cbrt"},
                                                       {"ceil"},
                                                       {"clamp"},
                                                       {"collective-broadcast"},
                                                       {"collective-permute"},
                                                       {"compare"},
                                                       {"complex"},
                                                       {"concatenate"},
                                                       {"convert", 1, 1},
                                                       {"convolution", 2},
                                                       {"copy", 1, 1},
                                                       {"cosh"},
                                                       {"cosine"},
                                                       {"divide"},
                                                       {"domain"},
                                                       {"dot", 2},
                                                       {"dynamic-reshape"},
                                                       {"dynamic-slice"},
                                                       {"dynamic-update-slice", 2},
                                                       {"erf"},
                                                       {"exponential"},
                                                       {"exponential-minus-one"},
                                                       {"floor"},
                                                       {"gather"},
                                                       {"get-dimension-size"},
                                                       {"get-tuple-element", 1, 1},
                                                       {"imag"},
                                                       {"is-finite"},
                                                       {"log"},
                                                       {"log-plus-one"},
                                                       {"logistic"},
                                                       {"maximum"},
                                                       {"minimum"},
                                                       {"multiply"},
                                                       {"negate"},
                                                       {"not"},
                                                       {"opt-barrier", 1, 1},
                                                       {"optimization-barrier", 1, 1},
                                                       {"or"},
                                                       {"pad"},
                                                       {"power"},
                                                       {"ragged-all-to-all", 2},
                                                       {"ragged-dot", 3},
                                                       {"real"},
                                                       {"reduce"},
                                                       {"reduce-precision"},
                                                       {"reduce-scatter"},
                                                       {"remainder"},
                                                       {"reshape", 1, 1},
                                                       {"reverse"},
                                                       {"rsqrt"},
                                                       {"scaled-dot", 2},
                                                       {"scatter", 3},
                                                       {"select"},
                                                       {"set-dimension-size"},
                                                       {"sign"},
                                                       {"sine"},
                                                       {"slice"},
                                                       {"sqrt"},
                                                       {"subtract"},
                                                       {"tan"},
                                                       {"tanh"},
                                                       {"transpose"},
                                                       {"while"},
                                                       {"xor"}}};
static_assert(std::ranges::is_sorted(kOperandCounts, {}, &OperandCount::opcode));

/// Limit of the letters of names from which the name of a nested instruction is composed.
constexpr std::size_t kMostLetters = 200;

OperandCount operand_count(std::string_view opcode) {
    for (const std::string_view end : {"-update", "-done"}) {
        if (opcode.ends_with(end)) {
            return {opcode, 1, 1};
        }
    }
    if (opcode.ends_with("-start")) {
        opcode.remove_suffix(std::string_view("-start").size());
    }
    const auto found = std::ranges::lower_bound(kOperandCounts, opcode, {}, &OperandCount::opcode);
    return found != kOperandCounts.end() && found->opcode == opcode ? *found
                                                                    : OperandCount{opcode, 0};
}

bool has_literal(const Instruction& instruction) {
    const std::string& opcode = instruction.opcode;
    return opcode == "parameter" || opcode == "constant" || opcode == "iota";
}

class Operands {
public:
    Operands(Text& text, Instruction& instruction, Computation& computation,
             InstructionNumbers& numbers)
        : text_(text), outer_(instruction), computation_(computation), numbers_(numbers) {}

    void read() {
        while (true) {
            if (has_literal(now())) {
                now().literal = std::string(text_.balanced(")"));
            } else if (text_.peek() != ')' && (begins_inner() || text_.take(","))) {
                continue;
            }
            if (inner_.empty()) {
                return;
            }
            end_inner();
        }
    }

private:
    /// The instruction whose operands come next: the outer one, or the innermost nested one.
    Instruction& now() { return inner_.empty() ? outer_ : inner_.back(); }

    /// Reads an operand. If it is a nested instruction, reads only up to the parenthesis behind its
    /// opcode and returns true.
    bool begins_inner() {
        if (text_.at_end()) {
            throw text_.error("expected ')' but the text ends");
        }
        const std::size_t start = text_.offset();
        // In `[shape] name`, a word that a bracket follows is the element type of a shape.
        std::string name;
        if (text_.peek() != '(' && text_.peek() != '%') {
            name = std::string(text_.word());
        }
        if (text_.peek() == '(' && !name.empty() && name != "b") {
            text_.go_to(start);
            throw text_.error(fmt::format("'{}' stands as an operand without its shape", name),
                              "write `f32[4] negate(%x)`, or give it a line of its own");
        }
        if (text_.peek() == '(' || text_.peek() == '[') {
            text_.go_to(start);
            Shape shape = read_shape(text_);
            const bool by_name = text_.peek() == '%';
            name = text_.name();
            if (!by_name && text_.take("(")) {
                if (outer_.name.size() > kMostLetters || name.size() > kMostLetters) {
                    throw text_.error(fmt::format(
                        "a name of more than {} letters with an instruction as an operand",
                        kMostLetters));
                }
                inner_.push_back({.name = outer_.name + '.' + name,
                                  .opcode = std::move(name),
                                  .shape = std::move(shape),
                                  .operands = {},
                                  .literal = {},
                                  .attributes = {},
                                  .called = {},
                                  .line = outer_.line,
                                  .column = outer_.column});
                return true;
            }
        } else if (name.empty()) {
            name = text_.name();
        }
        const auto found = numbers_.find(name);
        if (found == numbers_.end()) {
            text_.go_to(start);
            throw text_.error(fmt::format("'{}' is no instruction before this one", name));
        }
        now().operands.push_back(element_of(found->second, std::move(name)));
        return false;
    }

    void end_inner() {
        text_.expect(")");
        Instruction ended = std::move(inner_.back());
        inner_.pop_back();
        if (const std::string wrong = wrong_instruction(ended, computation_); !wrong.empty()) {
            throw text_.error(wrong);
        }
        now().operands.push_back(static_cast<std::uint32_t>(computation_.instructions.size()));
        computation_.instructions.push_back(std::move(ended));
        if (!text_.take(",") && text_.peek() != ')') {
            text_.expect(")");
        }
    }

    /// Returns the element to which the `#number`s behind a name lead; the instruction itself if
    /// there are none.
    std::uint32_t element_of(std::uint32_t number, std::string name) {
        while (text_.take("#")) {
            const std::int64_t element = text_.number();
            const Shape& whole = computation_.instructions[number].shape;
            const auto count = static_cast<std::int64_t>(whole.parts.size());
            if (whole.kind != Shape::Kind::tuple) {
                throw text_.error(fmt::format("'{}' is no tuple", name));
            }
            if (element < 0 || element >= count) {
                throw text_.error(fmt::format("'{}' has {} elements, none of the number {}", name,
                                              count, element));
            }
            name += fmt::format("#{}", element);
            const auto [entry, added] = numbers_.try_emplace(
                name, static_cast<std::uint32_t>(computation_.instructions.size()));
            if (added) {
                Shape part = whole.parts[static_cast<std::size_t>(element)];
                computation_.instructions.push_back(
                    {.name = name,
                     .opcode = "get-tuple-element",
                     .shape = std::move(part),
                     .operands = {number},
                     .literal = {},
                     .attributes = {{"index", std::to_string(element)}},
                     .called = {},
                     .line = outer_.line,
                     .column = outer_.column});
            }
            number = entry->second;
        }
        return number;
    }

    Text& text_;
    Instruction& outer_;
    Computation& computation_;
    InstructionNumbers& numbers_;
    /// Open nested instructions, the innermost last.
    std::vector<Instruction> inner_{};
};

}  // namespace

void read_operands(Text& text, Instruction& instruction, Computation& computation,
                   InstructionNumbers& numbers) {
    Operands(text, instruction, computation, numbers).read();
}

std::string wrong_operands(const Instruction& instruction) {
    const OperandCount count = operand_count(instruction.opcode);
    const std::size_t operands = instruction.operands.size();
    return operands < count.least || operands > count.most
               ? fmt::format("'{}': {} of {} operands", instruction.name, instruction.opcode,
                             operands)
               : std::string();
}

}  // namespace podsim::workloads::hlo
