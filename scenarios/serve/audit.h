// What must hold of a serving run at every event, kept by counts of its own: no request is lost, served twice or made to
// wait for a later one of its class, and no cache holds more than its pages. A breach is a defect: std::logic_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/requests/client_request.h"
#include "scenarios/serve/batch.h"

namespace podsim::scenarios {

class Audit {
public:
    explicit Audit(std::span<const Request> requests);

    void arrived(std::size_t request);
    /// A server took it from its line: whose turn it was is judged by line, class and ticket. One that comes back after a
    /// preemption has had its turn.
    void admitted(const WaitingLine& line, const Sequence& sequence);
    void preempted(std::size_t request);
    /// It left a prefill server for the line of a generate server.
    void moved(std::size_t request);
    void made(std::size_t request, std::int64_t tokens);
    void finished(std::size_t request);
    /// The pages of a batch, counted again from what each of its sequences holds.
    static void pages(const Batch& batch);
    /// At the end of the run.
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
