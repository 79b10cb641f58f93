// How many prefill servers feed a generate server: the closed form beside the run.
#pragma once

#include "scenarios/serve/serving_loop.h"

namespace podsim::scenarios {

/// A request takes, of a prefill server, the step of its prompt alone; of a full generate server, all of whose n slots are taken, or as many
/// as its cache has room for, its share of the decode steps: (output - 1) / tokens a step x t(n, mean context) / n; where every slot
/// has a buffer of its own that is read whole, and of a step compiled for more sequences, t of those. Both server kinds are busy
/// to the same degree where prefill : generate servers are as those two times.
struct Balance {
    double prefill_s = 0;        ///< of a prefill server, a request
    double generate_s = 0;       ///< of a generate server, a request
    std::int64_t sequences = 0;  ///< at once on a full generate server
    double context = 0;  ///< mean tokens cached of a decoding sequence, over all decode steps
    double ratio =
        0;  ///< prefill servers a generate server: prefill_s / generate_s; 0 where nothing is decoded

    /// Requests a second that so many servers can serve at most.
    [[nodiscard]] double most_per_s(double prefill_servers, double generate_servers) const;
};

/// Prompts are taken from up to kPrompts requests, evenly over the run.
Balance balance_of(const ServingSpec& spec, const ServingTimes& times);

inline constexpr std::size_t kPrompts = 256;

}  // namespace podsim::scenarios
