// The factors of the profile `measured`, version by version, each with its source. Private to efficiency.cpp.
#pragma once

#include <span>
#include <string_view>

namespace podsim::topology {

/// A factor of the profile `measured`, of one chip or of every measured one that has no row of its own.
struct Measured {
    std::string_view chip;  ///< empty: of all
    std::string_view factor;
    double value;
    std::string_view source;
};

/// What inference takes besides, for all chips.
struct Overheads {
    double kernel_s;
    double sequence_s;
};
struct Version {
    std::string_view name;
    std::span<const Measured> rows;  ///< of several for one chip and factor the last counts
    Overheads inference;
};

/// The newest first.
std::span<const Version> measured_versions();

}  // namespace podsim::topology
