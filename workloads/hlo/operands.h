// Operands in the parentheses of an instruction: names of others, elements of tuples, and instructions.
//
//   operand ::= [shape] [%]name{#number} | shape opcode(operands)
// `%p#1#0` is element 0 of element 1 of %p. XLA's dumps write get-tuple-elements so since 13 July 2026 (xla_dump_compact_gte) and give
// them no line but as a ROOT. An instruction that stands as an operand has no attributes and no name.
// Source: openxla/xla @183fa00 (22 August 2026), xla/hlo/parser/hlo_parser.cc, ParseOperands; xla/hlo/ir/hlo_computation.cc, Print.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "workloads/hlo/module.h"
#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {

/// Instructions of one computation by their names.
using InstructionNumbers = std::unordered_map<std::string, std::uint32_t>;

/// Reads up to the closing parenthesis, which stays. Elements and instructions that stand as operands become instructions of `computation`,
/// which `instruction` follows; an element that several read is one instruction. Throws sim::InputError.
void read_operands(Text& text, Instruction& instruction, Computation& computation,
                   InstructionNumbers& numbers);

/// The problem of an instruction that has fewer operands than it says anything with, or more than it takes; empty where it has enough.
std::string wrong_operands(const Instruction& instruction);

}  // namespace podsim::workloads::hlo
