// Reads the operands of an instruction: names of other instructions, elements of tuples, nested
// instructions.
//
//   operand ::= [shape] [%]name{#number} | shape opcode(operands)
// `%p#1#0` is element 0 of element 1 of %p. Since 13 July 2026 XLA's dumps write get-tuple-elements
// this way (xla_dump_compact_gte) and give one its own line only if it is a ROOT. A nested
// instruction has no attributes and no name.
// Source: openxla/xla @183fa00 (22 August 2026), xla/hlo/parser/hlo_parser.cc, ParseOperands;
// xla/hlo/ir/hlo_computation.cc, Print.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "workloads/hlo/module.h"
#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {

/// Instructions of one computation by name.
using InstructionNumbers = std::unordered_map<std::string, std::uint32_t>;

/// Reads up to the closing parenthesis, which stays. Elements and nested instructions are appended
/// to `computation`, before `instruction`; an element that several instructions read is appended
/// once. Throws sim::InputError.
void read_operands(Text& text, Instruction& instruction, Computation& computation,
                   InstructionNumbers& numbers);

/// Returns the problem of an instruction that has too few operands for its meaning or more than it
/// takes; empty if their number is right.
std::string wrong_operands(const Instruction& instruction);

}  // namespace podsim::workloads::hlo
