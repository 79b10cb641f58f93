// What a server puts into its next step: the rules by which requests share it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/serve/batch.h"

namespace podsim::scenarios {

struct StepPart {
    Sequence* sequence = nullptr;
    std::int64_t tokens = 0;  ///< new to its cache; of a decode: the most, with drafted ones
    bool decode = false;
};

/// A step; without parts the server has nothing to do.
struct StepPlan {
    std::vector<StepPart> parts;
};

class Batching {
public:
    Batching() = default;
    Batching(const Batching&) = delete;
    Batching& operator=(const Batching&) = delete;
    virtual ~Batching() = default;
    /// Takes, grows and preempts sequences of the batch as the next step needs.
    virtual StepPlan plan(Batch& batch) = 0;
    /// Whether one that has ended keeps its place until all of the batch have.
    [[nodiscard]] virtual bool holds_finished() const { return false; }
};

/// The rule of a server that computes prompts and answers.
std::unique_ptr<Batching> make_batching(const ServingSpec& spec);
/// The rule of a generate server: caches come computed.
std::unique_ptr<Batching> make_generate_batching();

}  // namespace podsim::scenarios
