// Random modules: whole programs in every form of the grammar, and texts that differ from one by a
// few changes.
//
// A module has a number of devices and groups that fit them in every spelling, loops that state
// their trip counts, fusions, branches, asynchronous pairs, matmuls and custom calls. A changed one
// has numbers at the limits of the types, opcodes with other endings, and lines and words that are
// missing, doubled or moved. The same seed makes the same text on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace podsim::workloads::hlo {

/// Returns a module that XLA could have written: podsim counts all of it.
std::string made_module(std::uint32_t seed);
/// Returns the same module with one to a few changes.
std::string changed_module(std::uint32_t seed);

}  // namespace podsim::workloads::hlo
