// An instruction, its operands and its result keep to rules, without which it means nothing or
// something else than it says.
//
// They are those of XLA's shape inference and verifier that decide what podsim counts. Layouts may
// differ.
#pragma once

#include <string>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Says what is wrong of an instruction whose operands are instructions of `computation`, their
/// number too; it is empty where nothing is.
std::string wrong_instruction(const Instruction& instruction, const Computation& computation);

/// Says the same of the computations that it calls.
std::string wrong_calls(const Instruction& instruction);

/// Finds a key that stands twice; it is empty where none does.
std::string key_twice(const std::vector<Attribute>& attributes);

}  // namespace podsim::workloads::hlo
