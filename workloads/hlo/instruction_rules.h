// Rules of XLA's shape inference and verifier that decide FLOPs, bytes and groups. An instruction
// that breaks one has no meaning, or another than its text. Layouts of operand and result may
// differ.
#pragma once

#include <string>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Returns the rule that an instruction breaks with its operands, which are instructions of
/// `computation`; empty if it breaks none.
std::string wrong_instruction(const Instruction& instruction, const Computation& computation);

/// Returns the rule that it breaks with the computations that it calls; empty if it breaks none.
std::string wrong_calls(const Instruction& instruction);

/// Returns a key that occurs twice; empty if there is none.
std::string key_twice(const std::vector<Attribute>& attributes);

}  // namespace podsim::workloads::hlo
