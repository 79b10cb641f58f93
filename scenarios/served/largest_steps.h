// The steps of a server of which one needs the most memory beside weights and caches: most rows, or most logits.
//
// At most s sequences are there at once: the slots, or fewer requests or clients. k tokens are drafted, c of a sequence are to be computed:
// its prompt behind the prefix that is cached, and, where one that was preempted is computed again, its answer but for the last token.
//   decode                 (1 + k) tokens of each of s sequences, as compiled (`padding`), and as many logits
//   static                 the prompts of a whole batch, the s longest
//   continuous             the longest prompt
//   chunked                `budget` tokens of s prompts, no more than they have
//   chunked, mixed         ... and those of a prompt beside s - 1 decodes
//   generate server        of disaggregated ones: the decode alone
// Prompts of one step count with their mean length.
#pragma once

#include <span>
#include <vector>

#include "scenarios/requests/client_request.h"
#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve/step_times.h"

namespace podsim::scenarios {

/// Of a server that holds caches. `again`: preempted sequences are computed again.
std::vector<StepShape> largest_steps(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again);

/// The longest prompt of them, which a prefill server computes alone.
StepShape longest_prompt(const ServingSpec& spec, std::span<const Request> requests, bool again);

}  // namespace podsim::scenarios
