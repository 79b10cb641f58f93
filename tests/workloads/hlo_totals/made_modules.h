// Modules made at random: whole programs in every form of the grammar, and texts a few changes away from one.
//
// A module has a number of devices and groups that fit them in every spelling, loops that tell how often they go round, fusions,
// branches, asynchronous pairs, matmuls and custom calls. A changed one has numbers at the edges of the types, opcodes with other
// endings, lines and words that are missing, doubled or moved. The same seed makes the same text on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace podsim::workloads::hlo {

/// XLA could have written it: podsim counts all of it.
std::string made_module(std::uint32_t seed);
/// The same with one to a few changes.
std::string changed_module(std::uint32_t seed);

}  // namespace podsim::workloads::hlo
