// The order in which sequences wait for a server: lower classes first, then by ticket. A preempted
// sequence returns to its own position, before all of its class that came later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "scenarios/src/scenario/arrivals.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct Sequence {
    std::size_t request = 0;  ///< its number
    std::int64_t prompt = 1;
    std::int64_t output = 1;
    std::int64_t prefix = 0;  ///< tokens that a prefix cache holds: whole pages
    /// Those of the prefix on pages that it shares with others.
    std::int64_t shared = 0;
    std::int64_t priority = 0;
    /// Its order among the sequences of its class in a line.
    std::uint64_t ticket = 0;
    std::int64_t cached = 0;  ///< tokens whose keys and values are in the cache
    std::int64_t made = 0;    ///< tokens of the answer
    std::int64_t pages = 0;   ///< pages of its own
    /// True if it lost its cache and waits to be taken again.
    bool preempted = false;
    bool running = false;  ///< true if it has a slot
    sim::Time came{};      ///< arrival at the server or its line
    /// Draws for its drafted tokens; its own, so that they do not depend on the schedule.
    Draws draws{0, 0};

    /// Known tokens that are not in the cache. A step that computes the last of them makes a token.
    [[nodiscard]] std::int64_t todo() const { return prompt + made - cached; }
    /// True if only the last token made is to be computed.
    [[nodiscard]] bool decoding() const { return made > 0 && todo() == 1; }
    [[nodiscard]] bool finished() const { return made == output; }
};

/// True if a goes before b.
struct EarlierTurn {
    bool operator()(const Sequence* a, const Sequence* b) const {
        return a->priority != b->priority ? a->priority < b->priority : a->ticket < b->ticket;
    }
};

class WaitingLine {
public:
    void push(Sequence& sequence) { line_.insert(&sequence); }
    [[nodiscard]] bool empty() const { return line_.empty(); }
    [[nodiscard]] std::size_t size() const { return line_.size(); }
    [[nodiscard]] Sequence& front() const { return **line_.begin(); }
    void pop() { line_.erase(line_.begin()); }

private:
    std::set<Sequence*, EarlierTurn> line_;
};

}  // namespace podsim::scenarios
