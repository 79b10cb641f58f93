// Whole numbers are held as their types hold them: arithmetic wraps where the type's does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/hlo/array_shape.h"

namespace podsim::workloads::hlo {

/// It holds sums of a few numbers of 64 bits.
__extension__ using Wide = __int128;

/// A type holds all whole numbers from the least to the most.
struct NumberRange {
    Wide least = 0;
    Wide most = 0;
    bool whole =
        true;  ///< it holds no others: what leaves the range comes in again at the other end

    [[nodiscard]] bool holds(Wide value) const { return least <= value && value <= most; }
    [[nodiscard]] NumberRange moved(Wide by) const { return {least + by, most + by, whole}; }
    /// XLA writes and reads u64 below 0, too.
    [[nodiscard]] bool can_be_written(Wide value) const;
    /// The number comes into the range, but for one that a type of floating point does not hold
    /// exactly.
    [[nodiscard]] std::optional<Wide> wrapped(Wide value) const;
    /// The same as a difference, which lies on either side of 0.
    [[nodiscard]] std::optional<Wide> difference(Wide value) const;
};

/// An array's elements have one if they are numbers.
std::optional<NumberRange> range_of(const Shape& shape);

/// Reads a text that is a whole number; 2^100 stands for all from there on.
std::optional<Wide> wide_in(std::string_view text);

}  // namespace podsim::workloads::hlo
