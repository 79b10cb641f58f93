// Reads the text of an HLO module, as `compiled.as_text()` and XLA's dumps have it.
//
// Grammar (openxla/xla, xla/hlo/parser/hlo_parser.cc):
//   HloModule NAME{, key=value}*
//   tables of names and stack frames, which podsim skips
//   [ENTRY] [%]name [(parameters) -> shape] { instructions }[, execution_thread="..."]
//   [ROOT] [%]name = shape opcode(operands){, key=value}*      operands: operands.h
// The first line, the shapes of operands and `%` may be missing. The entry is the computation
// marked ENTRY, or else the last one that no other calls. A text that ends within a computation
// (MaxText cuts dumps off) is read up to the broken instruction.
#pragma once

#include <string>
#include <string_view>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError, with line and column, for a text that is not HLO. For StableHLO and
/// other MLIR the error says what to dump instead.
Module read_module(std::string_view text, const std::string& file);

}  // namespace podsim::workloads::hlo
