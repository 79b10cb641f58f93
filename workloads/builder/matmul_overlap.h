// The collective matmul: ring steps of a tensor collective between parts of the matmul that it feeds or
// follows (Overlap::tensor_steps, collectives/algorithms/ring_steps.h).
//
// Gather: the parts of the matmul are taken in the order in which their rows come, this chip's own first. A
// part depends on the steps that bring its rows; a step only on the step that brought what it passes on.
// Scatter: the same in reverse, own rows last. A step depends on the part that it sends and on the partial
// sums that have come for the same rows; adding is free.
// Ring attention (Overlap::context_steps) is a gather of keys and values one way round the context ring, with a part
// of attention for each block that the chip's queries see; the others only pass by. Each part adds to the part before.
// Backward the gradients of a block follow it: they begin at the next chip and gather every chip's share
// on the way round to the chip whose block it is, which adds its own, computed first.
// What a part of the rows does stands in work/rows_work.h.
//
// A gather that is to overlap is not issued where rows are asked for: it travels in the value (Arriving) to the matmul
// that takes it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/chain/chain.h"
#include "workloads/chain/held_buffers.h"
#include "workloads/plan/overlap.h"
#include "workloads/work/rows_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

/// A gather that overlaps with the matmul, or the attention, to come.
struct PendingGather {
    std::string what;
    double bytes = 0;
    Purpose purpose = Purpose::tensor;
    [[nodiscard]] bool keys() const { return purpose == Purpose::context; }
};

/// Complete rows, or keys and values: gathered, or to be gathered by what takes them.
struct Arriving : Tensor {
    std::optional<PendingGather> pending{};
};

/// What a matmul writes whose rows are to be added up over tensor.
struct PartialSums : Tensor {
    bool added_up = false;  ///< its own ring steps have
};

/// The part of an operation that works on the i-th piece to come (collectives::SteppedGather); nothing where
/// the piece only passes by.
using PartOf = std::function<std::optional<Compute>(std::size_t piece)>;

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

    /// Whether tensor collectives are ring steps.
    [[nodiscard]] bool steps() const {
        return tensor_ways_ > 1 && overlap_.tensor_steps.has_value();
    }

    /// Whether keys and values go round in ring steps: ring attention.
    [[nodiscard]] bool rings_of_keys() const { return overlap_.context_steps.has_value(); }

    /// A matmul of arriving rows; of a gather that overlaps with it, in parts, and the rows are there from then on.
    Tensor matmul(std::string_view what, const RowsWork& work, Arriving& rows, Sources others);
    /// A matmul whose rows, partial sums of `bytes` in all, are added up over tensor by steps between its parts.
    PartialSums matmul_scattered(std::string_view what, const RowsWork& work, double bytes,
                                 const Sources& needs);
    /// Attention, or its gradient: of ring attention in parts by keys. `gradient`: the parts' gradients of keys and
    /// values go round too.
    Tensor over_keys(std::string_view what, const Compute& work, const Arriving& keys,
                     Sources others, const PartOf& part, bool gradient);

private:
    [[nodiscard]] const collectives::SteppedGather& order(const PendingGather& gather) const {
        return gather.keys() ? *overlap_.context_steps : *overlap_.tensor_steps;
    }
    /// Parts of an operation between the steps of a gather, and what is behind them.
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
