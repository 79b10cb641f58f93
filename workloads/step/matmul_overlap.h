// The collective matmul: ring steps of a tensor collective between segments of the matmul that it
// feeds or follows (Overlap::tensor_steps, collectives/algorithms/ring_step_schedule.h).
//
// Gather: the segments of the matmul run in the order in which their rows arrive, this chip's own
// first. A segment depends on the steps that bring its rows. A step depends only on the step that
// brought the rows that it passes on.
//
// Scatter: the same in reverse, own rows last. A step depends on the segment that it sends and on
// the partial sums that have arrived for the same rows; adding is free.
//
// Ring attention (Overlap::context_steps) is a gather of keys and values in one direction round the
// context ring. It has a segment of attention for each block that the chip's queries see; the other
// blocks only pass by. Each segment adds to the previous one. In the backward pass the gradients of
// a block follow it. They begin at the next chip and collect every chip's contribution on their
// route to the chip that owns the block, which adds its own, computed first.
//
// work/rows_work.h has the work on a fraction of the rows. A gather that is to overlap is not
// issued where rows are requested: it travels in the value (Arriving) to the matmul that takes it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/plan/overlap.h"
#include "workloads/program/chain.h"
#include "workloads/program/held_buffers.h"
#include "workloads/work/rows_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

/// A gather that overlaps with the matmul, or the attention, that follows.
struct PendingGather {
    std::string what;
    double bytes = 0;
    Purpose purpose = Purpose::tensor;
    [[nodiscard]] bool keys() const { return purpose == Purpose::context; }
};

/// Complete rows, or keys and values: gathered, or to be gathered by the operation that takes them.
struct Arriving : Tensor {
    std::optional<PendingGather> pending{};
};

/// Output of a matmul whose rows are to be added up over tensor.
struct PartialSums : Tensor {
    bool added_up = false;  ///< by its own ring steps
};

/// Work of an operation on the i-th segment to arrive (collectives::SteppedGather); nothing if the
/// segment only passes by.
using PartOf = std::function<std::optional<Compute>(std::size_t piece)>;

/// Writer of matmuls and attention whose collectives run beside them, or block.
class MatmulOverlap {
public:
    MatmulOverlap(const Overlap& overlap, int tensor_ways, const Shard& shard, const OpNames& names,
                  Chain& chain, HeldBuffers& buffers)
        : overlap_(overlap),
          tensor_ways_(tensor_ways),
          shard_(shard),
          names_(names),
          chain_(chain),
          buffers_(buffers) {}

    /// True if tensor collectives are ring steps.
    [[nodiscard]] bool steps() const {
        return tensor_ways_ > 1 && overlap_.tensor_steps.has_value();
    }

    /// True if keys and values go round in ring steps: ring attention.
    [[nodiscard]] bool rings_of_keys() const { return overlap_.context_steps.has_value(); }

    /// Adds a matmul of arriving rows. With a gather that overlaps it runs in segments, and the
    /// rows exist from then on.
    Tensor matmul(std::string_view what, const RowsWork& work, Arriving& rows, Sources others);
    /// Adds a matmul whose rows, partial sums of `bytes` in all, are added up over tensor by steps
    /// between its segments.
    PartialSums matmul_scattered(std::string_view what, const RowsWork& work, double bytes,
                                 const Sources& needs);
    /// Adds attention, or its gradient; ring attention runs in segments by keys. `gradient`: the
    /// segments' gradients of keys and values go round too.
    Tensor over_keys(std::string_view what, const Compute& work, const Arriving& keys,
                     Sources others, const PartOf& part, bool gradient);

private:
    [[nodiscard]] const collectives::SteppedGather& order(const PendingGather& gather) const {
        return gather.keys() ? *overlap_.context_steps : *overlap_.tensor_steps;
    }
    /// Segments of an operation between the steps of a gather, and the operations behind them.
    struct Parts {
        Sources computed;   ///< in order
        Sources gathers;    ///< by step
        Sources passed_on;  ///< the last step of the sums that go round
    };
    Parts between_steps(std::string_view what, const PendingGather& gather, const Sources& source,
                        const Sources& others, const PartOf& part, bool sums);
    OpIndex step(std::string_view what, const PendingGather& array, std::uint32_t step,
                 collectives::Operation operation, int direction, bool counts, Chain::Waits waits);

    const Overlap& overlap_;
    const int tensor_ways_;
    const Shard& shard_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
};

}  // namespace podsim::workloads
