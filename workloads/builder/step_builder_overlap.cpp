// The collective matmul: ring steps of a tensor collective between parts of the matmul that it feeds or
// follows (collectives/algorithms/ring_steps.h).
//
// Gather: the parts of the matmul are taken in the order in which their rows come, this chip's own first. A
// part depends on the steps that bring its rows; a step only on the step that brought what it passes on.
// Scatter: the same in reverse, own rows last. A step depends on the part that it sends and on the partial
// sums that have come for the same rows; adding is free.
// Ring attention is a gather of keys and values one way round the context ring, with a part of attention for each block
// that the chip's queries see; the others only pass by.
// Backward the gradients of a block follow it: they begin at the next chip and gather every chip's share
// on the way round to the chip whose block it is, which adds its own, computed first.
// A part of m' rows of an m x k by k x n product reads all k n elements of the weights again.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {
using collectives::Operation;
using collectives::SteppedGather;

/// The part of a matmul that works on a share of its rows.
Compute StepBuilder::part_of_rows(const Compute& whole, double share) const {
    const double element =
        whole.dtype == MatmulDtype::bf16 ? shard_.plain_weight_bytes : shard_.weight_bytes;
    double weights = 0;
    for (const MatmulShape& shape : whole.matmuls) {
        weights += shape.m == 0 ? 0 : shape.k * shape.n * shape.count * element;
    }
    Compute part = whole;
    part.flops = whole.flops * share;
    part.vector = whole.vector * share;
    part.elementwise = whole.elementwise * share;
    part.hbm = sim::Bytes((whole.hbm.value() - weights) * share + weights);
    for (MatmulShape& shape : part.matmuls) {
        shape.m *= share;
    }
    return part;
}

OpIndex StepBuilder::add_step(std::string_view what, const Pending& array, std::uint32_t step,
                              Operation operation, int direction, bool counts,
                              std::vector<OpIndex> after) {
    const SteppedGather::Step& spec = order(array).steps[step];
    const bool gathers = operation == Operation::all_gather;
    return add(name(fmt::format("{} {} step {}", gathers ? "gather" : "scatter", what, step + 1)),
               Collective{operation,
                          array.purpose,
                          {array.keys() ? "context" : "tensor"},
                          sim::Bytes(counts ? array.bytes : 0),
                          collectives::RingStep{spec.factor, direction,
                                                sim::Bytes(array.bytes * spec.share)}},
               std::move(after));
}

OpIndex StepBuilder::compute_gathered(std::string_view what, const Pending& gather,
                                      const PartOf& part, bool sums) {
    const SteppedGather& steps = order(gather);
    std::vector<OpIndex> start = chain();
    const std::vector<OpIndex> chained = start;
    wait_for_turn(start);
    std::vector<OpIndex> gathers(steps.steps.size());
    std::vector<OpIndex> passed_on;  // the sums of the part before
    for (std::size_t i = 0; i < steps.pieces.size(); ++i) {
        std::vector<OpIndex> rows = i == 0 ? chained : std::vector{last_};
        for (const std::uint32_t step : steps.pieces[i].steps) {
            std::vector<OpIndex> after;
            for (const std::uint32_t before : steps.steps[step].after) {
                after.push_back(gathers[before]);
            }
            const bool counts = i == 1 && step == steps.pieces[i].steps.front();
            gathers[step] =
                add_step(gather.what, gather, step, Operation::all_gather,
                         steps.steps[step].direction, counts, after.empty() ? start : after);
            rows.push_back(gathers[step]);
        }
        // Nothing comes before the program's first operation.
        const OpIndex came = rows.empty() ? kWholeStep : rows.back();
        const std::optional<Compute> work = part(i);
        if (work) {
            add_compute(name(fmt::format("{} {}/{}", what, i + 1, steps.pieces.size())), *work,
                        std::move(rows));
        }
        if (sums && i > 0) {
            const std::uint32_t step = steps.pieces[i].steps.front();
            passed_on.push_back(work ? last_ : came);
            passed_on = {add_step(what, gather, step, Operation::reduce_scatter,
                                  steps.steps[step].direction, i == 1, std::move(passed_on))};
        }
    }
    // Its steps are one collective, which ends with the last of them.
    collectives_.push_back(gathers[steps.pieces.back().steps.back()]);
    collectives_.insert(collectives_.end(), passed_on.begin(), passed_on.end());
    sums_ = std::move(passed_on);
    return last_;
}

OpIndex StepBuilder::compute_over_keys(std::string_view what, Compute work, const PartOf& part,
                                       bool gradient) {
    if (!pending_ || !pending_->keys()) {
        return compute(what, std::move(work));
    }
    const Pending gather = *std::exchange(pending_, std::nullopt);
    const OpIndex first = next();
    const OpIndex end = compute_gathered(what, gather, part, gradient);
    // The block at work and the one under way, and the sums that go with them.
    const BufferId blocks =
        hold(MemoryClass::buffers,
             (gradient ? 4 : 2) * gather.bytes / static_cast<double>(order(gather).pieces.size()),
             first);
    release(blocks, end);
    // Behind the last part, blocks that have none may still come by.
    release(blocks, collectives_[collectives_.size() - 1 - sums_.size()]);
    return end;
}

OpIndex StepBuilder::compute_scattered(std::string_view what, Compute work, double bytes) {
    if (!overlaps()) {
        return compute(what, std::move(work));
    }
    const SteppedGather& order = *plan_.overlap.tensor_steps;
    const Pending array{std::string(what), bytes, Purpose::tensor};
    std::vector<OpIndex> steps(order.steps.size());
    std::vector<std::vector<OpIndex>> sums(order.steps.size());  // what a step adds to
    std::vector<OpIndex> own;
    bool counts = true;
    for (std::size_t i = order.pieces.size(); i-- > 0;) {
        const SteppedGather::Piece& piece = order.pieces[i];
        const OpIndex part = add_compute(
            name(fmt::format("{} {}/{}", what, order.pieces.size() - i, order.pieces.size())),
            part_of_rows(work, piece.share), chain());
        const BufferId partial = hold(MemoryClass::buffers, bytes * piece.share, part);
        for (const std::uint32_t step : piece.steps) {
            std::vector<OpIndex> after = std::move(sums[step]);
            after.push_back(part);
            if (counts) {
                wait_for_turn(after);
            }
            steps[step] =
                add_step(what, array, step, Operation::reduce_scatter, -order.steps[step].direction,
                         std::exchange(counts, false), std::move(after));
            for (const std::uint32_t before : order.steps[step].after) {
                sums[before].push_back(steps[step]);
            }
            if (order.steps[step].own) {
                own.push_back(steps[step]);
            }
            release(partial, steps[step]);
        }
        if (piece.steps.empty()) {
            release(partial, part);
        }
    }
    collectives_.push_back(own.front());
    sums_ = std::move(own);
    scattered_ = true;
    return done_reading(last_);
}

OpIndex StepBuilder::gather_ahead(std::string_view what, double bytes) {
    if (!overlaps()) {
        return gather_over_tensor(what, bytes);
    }
    std::vector<OpIndex> after = sums_;
    after.push_back(last_);
    ahead_.push_back(add_collective(
        name(fmt::format("gather {}", what)),
        Collective{Operation::all_gather, Purpose::tensor, {"tensor"}, sim::Bytes(bytes)},
        std::move(after)));
    return ahead_.back();
}

void StepBuilder::await_rows() {
    waits_.insert(waits_.end(), ahead_.begin(), ahead_.end());
    ahead_.clear();
}

}  // namespace podsim::workloads
