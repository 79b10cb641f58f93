// A request on its way: what of it is computed, cached and answered.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scenarios/requests/draws.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct Sequence {
    std::size_t request = 0;  ///< its number
    std::int64_t prompt = 1;
    std::int64_t output = 1;
    std::int64_t prefix = 0;  ///< tokens that a prefix cache holds: whole pages
    std::int64_t shared = 0;  ///< of them on pages that are not its own
    std::int64_t priority = 0;
    std::uint64_t ticket = 0;  ///< its turn among those of its class at a line
    std::int64_t cached = 0;   ///< tokens whose keys and values are in the cache
    std::int64_t made = 0;     ///< tokens of the answer
    std::int64_t pages = 0;    ///< its own
    bool preempted = false;    ///< it lost its cache, and waits to be taken again
    bool running = false;      ///< it has a slot
    sim::Time came{};          ///< to the server or its line
    Draws draws{0, 0};         ///< of its drafted tokens: its own, so that no schedule changes them

    /// Tokens known but not in the cache. A step that computes the last of them makes a token.
    [[nodiscard]] std::int64_t todo() const { return prompt + made - cached; }
    /// Whether only the token made last is to be computed.
    [[nodiscard]] bool decoding() const { return made > 0 && todo() == 1; }
    [[nodiscard]] bool finished() const { return made == output; }
};

}  // namespace podsim::scenarios
