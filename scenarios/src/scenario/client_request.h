// A request to a server: its arrival, its prompt and its output.
#pragma once

#include <cstdint>

#include "sim/base/time.h"

namespace podsim::scenarios {

struct Request {
    sim::Time arrival;        ///< unused with a fixed concurrency: it arrives when another ends
    std::int64_t prompt = 1;  ///< tokens, at least 1
    std::int64_t output = 1;  ///< tokens, at least 1; the prefill makes the first
    /// Tokens of the prompt that a prefix cache holds already.
    std::int64_t prefix = 0;
    std::int64_t priority = 0;  ///< its class: lower ones go first

    friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace podsim::scenarios
