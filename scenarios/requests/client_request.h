// A request to a server: when it arrives, what it brings and what it wants.
#pragma once

#include <cstdint>

#include "sim/base/time.h"

namespace podsim::scenarios {

struct Request {
    sim::Time arrival;        ///< with a fixed concurrency: not used, it arrives when another ends
    std::int64_t prompt = 1;  ///< tokens, at least 1
    std::int64_t output = 1;  ///< tokens, at least 1: the first is the prefill's
    std::int64_t prefix = 0;  ///< of the prompt: tokens that a prefix cache holds already
    std::int64_t priority = 0;  ///< its class: lower ones go first

    friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace podsim::scenarios
