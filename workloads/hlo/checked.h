// Arithmetic on sizes that a text states: what leaves the range is noticed, and nothing wraps.
#pragma once

#include <cstdint>
#include <limits>

namespace podsim::workloads::hlo {

/// Multiplies `product` by a factor of at least 0 where the result is at most `most`; else it stays, and the answer is false.
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
