// Whole numbers of HLO's element types, with arithmetic that wraps as on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "workloads/hlo/array_shape.h"

namespace podsim::workloads::hlo {

/// Holds sums of a few numbers of 64 bits.
__extension__ using Wide = __int128;

/// The whole numbers that an element type holds: all from `least` to `most`.
struct NumberRange {
    Wide least = 0;
    Wide most = 0;
    /// True for integer types: a value beyond the range wraps. Floating types do not wrap.
    bool whole = true;

    [[nodiscard]] bool holds(Wide value) const { return least <= value && value <= most; }
    [[nodiscard]] NumberRange moved(Wide by) const { return {least + by, most + by, whole}; }
    /// True if a literal of the type may have this value. XLA also writes negative u64.
    [[nodiscard]] bool can_be_written(Wide value) const;
    /// Returns the value as the type holds it; nothing if a floating type does not hold it exactly.
    [[nodiscard]] std::optional<Wide> wrapped(Wide value) const;
    /// Returns a difference of two values of the type, which may be negative.
    [[nodiscard]] std::optional<Wide> difference(Wide value) const;
};

/// Returns the range of an array's elements; nothing if they are no numbers.
std::optional<NumberRange> range_of(const Shape& shape);

/// Reads a whole number; numbers above 2^100 count as 2^100. Returns nothing for other texts.
std::optional<Wide> wide_in(std::string_view text);

}  // namespace podsim::workloads::hlo
