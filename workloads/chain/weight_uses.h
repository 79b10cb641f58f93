// The passes of a step over its weights, and the stretches of compute in which they read them (weight_gathers.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/weights.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The part whose table may be that of another.
inline constexpr std::string_view kUnembeddingPart = "unembedding";

/// One pass over what a layer, the embedding or the unembedding has of the weights.
struct WeightUse {
    std::string part;  ///< `embedding`, `layer 3`, `unembedding`
    int layer = -1;
    Pass pass{};
    Weights weights;
    int microbatch = 0;
    bool of_another = false;      ///< the weights are those of another part
    std::vector<Matrix> reads{};  ///< in this order; empty: one group of all
    MatrixSet
        again{};  ///< backward: whose forward matmul runs again, where that has weights of its own
};

/// Compute of a use that reads one group of its weights.
struct Stretch {
    std::size_t use = 0;
    std::size_t group = 0;
    double begins = 0;       ///< in uses: those of a use have equal shares of it
    bool reads_all = false;  ///< a use in one stretch: all weights, of whatever matrix
    bool last = false;       ///< of its group in the use
    std::size_t first = 0;   ///< of its group in the use: that which gathers
};

/// Those of all uses, in order.
class Stretches {
public:
    Stretches(const std::vector<WeightUse>& uses, WeightGroups groups);

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] const Stretch& operator[](std::size_t place) const { return all_[place]; }
    /// The first that begins at `position` or later; size() when none does.
    [[nodiscard]] std::size_t first_at(double position) const;

private:
    std::vector<Stretch> all_;
};

}  // namespace podsim::workloads
