// Invariants of a serving run, checked at every event by counts of their own. No request is lost,
// served twice, or made to wait for a later one of its class; no cache holds more than its pages. A
// violation is a defect: std::logic_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/client_request.h"
#include "scenarios/src/serve/batch.h"

namespace podsim::scenarios {

class Audit {
public:
    explicit Audit(std::span<const Request> requests);

    void arrived(std::size_t request);
    /// A server took it from its line. Checks the order by line, class and ticket; a request that
    /// returns after a preemption is exempt.
    void admitted(const WaitingLine& line, const Sequence& sequence);
    void preempted(std::size_t request);
    /// It left a prefill server for the line of a generate server.
    void moved(std::size_t request);
    void made(std::size_t request, std::int64_t tokens);
    void finished(std::size_t request);
    /// Recounts the pages of a batch from those of its sequences.
    static void pages(const Batch& batch);
    /// Checks at the end of the run that all requests are served.
    void all_served() const;

private:
    enum class State { outside, waiting, served, done };
    struct Account {
        State state = State::outside;
        std::int64_t owed = 0;  ///< tokens
    };
    std::vector<Account> accounts_;
    std::map<std::pair<const WaitingLine*, std::int64_t>, std::uint64_t> last_turn_;
};

}  // namespace podsim::scenarios
