// The passes of a step over its weights, and the stretches of compute that read them
// (weight_gathers.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/weights.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The part that may share the table of another.
inline constexpr std::string_view kUnembeddingPart = "unembedding";

/// One pass over the weights of a layer, the embedding or the unembedding.
struct WeightUse {
    std::string part;  ///< `embedding`, `layer 3`, `unembedding`
    int layer = -1;
    Pass pass{};
    Weights weights;
    int microbatch = 0;
    bool of_another = false;      ///< the weights are those of another part
    std::vector<Matrix> reads{};  ///< in this order; empty: one group of all
    /// Backward: matrices whose forward matmul runs again, if that has weights of its own.
    MatrixSet again{};
};

/// Compute of a use that reads one group of its weights.
struct Stretch {
    std::size_t use = 0;
    std::size_t group = 0;
    double begins = 0;       ///< in uses, which their stretches divide equally
    bool reads_all = false;  ///< a use in one stretch: all weights, of any matrix
    bool last = false;       ///< of its group in the use
    std::size_t first = 0;   ///< of its group in the use: the stretch that gathers
};

/// The stretches of all uses, in order.
class Stretches {
public:
    Stretches(const std::vector<WeightUse>& uses, WeightGroups groups);

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] const Stretch& operator[](std::size_t place) const { return all_[place]; }
    /// Returns the first that begins at `position` or later; size() if none does.
    [[nodiscard]] std::size_t first_at(double position) const;

private:
    std::vector<Stretch> all_;
};

}  // namespace podsim::workloads
