// Who waits for a server: lower classes first, within a class by ticket. One that was preempted comes back to its own
// place, before all of its class that came later.
#pragma once

#include <cstddef>
#include <set>

#include "scenarios/serve/sequence.h"

namespace podsim::scenarios {

/// Whether a goes before b.
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
