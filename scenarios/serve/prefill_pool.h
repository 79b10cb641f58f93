// The servers of disaggregated prefill: each computes one prompt at a time and sends caches on their way one after the
// other, while the next prompt is computed; with too many caches waiting for their way it stops.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve/waiting_line.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

class PrefillPool {
public:
    explicit PrefillPool(const DisaggregationSpec& spec)
        : backlog_(static_cast<std::size_t>(spec.backlog)),
          servers_(static_cast<std::size_t>(spec.prefill_servers)) {}

    [[nodiscard]] std::size_t size() const { return servers_.size(); }

    /// Whether it may take a prompt: it computes none, and besides the cache on its way at most `backlog` wait.
    [[nodiscard]] bool free(std::size_t server) const {
        const Server& at = servers_[server];
        return at.serving == nullptr && at.leaving.size() <= backlog_ + 1;
    }
    void start(std::size_t server, Sequence& sequence, sim::Time takes);
    /// The prompt is computed; the server is free for the next, or waits.
    Sequence& end(std::size_t server, sim::Time now);

    /// A cache waits for its way. True when it goes at once: its transfer begins.
    [[nodiscard]] bool send(std::size_t server, Sequence& sequence);
    /// The transfer under way has ended.
    Sequence& sent(std::size_t server);
    /// Whose transfer begins then; nullptr without one.
    [[nodiscard]] Sequence* next(std::size_t server) const;

    struct Use {
        sim::Time busy;
        sim::Time ended{-1};  ///< its last prompt
        std::int64_t steps = 0;
        std::int64_t tokens = 0;
    };
    [[nodiscard]] const Use& use(std::size_t server) const { return servers_[server].use; }

private:
    struct Server {
        Sequence* serving = nullptr;
        std::deque<Sequence*> leaving;  ///< the first is on its way
        Use use;
    };
    std::size_t backlog_;
    std::vector<Server> servers_;
};

}  // namespace podsim::scenarios
