// The servers of disaggregated prefill. Each computes one prompt at a time and sends caches one
// after the other, while it computes the next prompt. It stops if too many caches wait to be sent.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/serve/waiting_line.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

class PrefillPool {
public:
    explicit PrefillPool(const DisaggregationSpec& spec)
        : backlog_(static_cast<std::size_t>(spec.backlog)),
          servers_(static_cast<std::size_t>(spec.prefill_servers)) {}

    [[nodiscard]] std::size_t size() const { return servers_.size(); }

    /// True if the server may take a prompt: it computes none, and at most `backlog` caches wait
    /// besides the one in transfer.
    [[nodiscard]] bool free(std::size_t server) const {
        const Server& at = servers_[server];
        return at.serving == nullptr && at.leaving.size() <= backlog_ + 1;
    }
    void start(std::size_t server, Sequence& sequence, sim::Time takes);
    /// Ends the prompt; the server is free for the next, or waits.
    Sequence& end(std::size_t server, sim::Time now);

    /// Queues a cache for sending. Returns true if its transfer begins at once.
    [[nodiscard]] bool send(std::size_t server, Sequence& sequence);
    /// Ends the current transfer.
    Sequence& sent(std::size_t server);
    /// Returns the sequence whose transfer then begins; nullptr without one.
    [[nodiscard]] Sequence* next(std::size_t server) const;

    struct Use {
        sim::Time busy;
        sim::Time ended{-1};  ///< end of its last prompt
        std::int64_t steps = 0;
        std::int64_t tokens = 0;
    };
    [[nodiscard]] const Use& use(std::size_t server) const { return servers_[server].use; }

private:
    struct Server {
        Sequence* serving = nullptr;
        std::deque<Sequence*> leaving;  ///< the first is in transfer
        Use use;
    };
    std::size_t backlog_;
    std::vector<Server> servers_;
};

}  // namespace podsim::scenarios
