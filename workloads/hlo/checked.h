// Arithmetic on sizes that a text states: overflow is reported, nothing wraps.
#pragma once

#include <cstdint>
#include <limits>

namespace podsim::workloads::hlo {

/// Multiplies `product` by `factor`. If the factor is negative or the result is above `most`,
/// leaves `product` unchanged and returns false.
[[nodiscard]] inline bool multiply(std::int64_t& product, std::int64_t factor,
                                   std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    std::int64_t result = 0;
    if (factor < 0 || __builtin_mul_overflow(product, factor, &result) || result > most) {
        return false;
    }
    product = result;
    return true;
}

}  // namespace podsim::workloads::hlo
