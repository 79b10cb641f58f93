// Reads the text of an HLO module, as `compiled.as_text()` and XLA's dumps have it.
//
// Grammar (openxla/xla, xla/hlo/parser/hlo_parser.cc):
//   HloModule NAME{, key=value}*
//   tables of names and stack frames, which say nothing here
//   [ENTRY] [%]name [(parameters) -> shape] { instructions }[, execution_thread="..."]
//   [ROOT] [%]name = shape opcode(operands){, key=value}*      operands: operands.h
// The first line, the shapes of operands and `%` may be missing; the entry is the computation marked so, or the last that none calls.
// A text that ends within a computation (MaxText cuts dumps off) is read as far as it goes: the broken instruction is left out.
#pragma once

#include <string>
#include <string_view>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

/// Throws sim::InputError, with line and column, for what is no HLO text; for StableHLO and other MLIR it says what to dump instead.
Module read_module(std::string_view text, const std::string& file);

}  // namespace podsim::workloads::hlo
