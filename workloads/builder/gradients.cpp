// The gradients of a step: their buckets and reductions, and the optimizer (step_builder.h).
#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {

using collectives::Operation;

Gradients StepBuilder::begin_gradients(const Weights& weights, Gradients carried) {
    return begin_group(part_, weights, carried);
}

void StepBuilder::reduce_gradients(const Weights& weights, Gradients unreduced) {
    reduce_group(part_, weights, unreduced, {});
}

void StepBuilder::begin_gradient(Matrix matrix) {
    if (!open_.contains(group(matrix))) {
        const Weights weights = layers_[static_cast<std::size_t>(layer_)].of_group(
            plan_.overlap.weights, group(matrix));
        open_[group(matrix)].unreduced =
            begin_group(part_ + ' ' + label_of(group(matrix)), weights, {});
    }
}

void StepBuilder::end_gradient(Matrix matrix) {
    const LayerWeights& layer = layers_[static_cast<std::size_t>(layer_)];
    const auto bit = [](Matrix of) { return 1U << static_cast<unsigned>(of); };
    OpenGroup& open = open_.at(group(matrix));
    open.written |= bit(matrix);
    const bool complete = std::ranges::all_of(kMatrices, [&](Matrix other) {
        return group(other) != group(matrix) || !layer.has(other) ||
               (open.written & bit(other)) != 0;
    });
    if (complete) {
        const std::string label = label_of(group(matrix));
        reduce_group(part_ + ' ' + label, layer.of_group(plan_.overlap.weights, group(matrix)),
                     open.unreduced, label);
        open_.erase(group(matrix));
    }
}

Gradients StepBuilder::begin_group(const std::string& name, const Weights& weights,
                                   Gradients carried) {
    wait_for_reductions(static_cast<std::size_t>(plan_.overlap.reductions_in_flight) - 1);
    if (carried.dense != kNoBuffer) {
        return carried;
    }
    const Weights parts = split(weights);
    const double element = plan_.precision.gradients / plan_.ways.of_matrix();
    Accumulated& sums = accumulated_[name];
    const bool first = sums.begun++ == 0;
    const auto begin = [&](double bytes, bool stays, BufferId& whole) {
        if (!stays) {
            return hold(MemoryClass::gradients, bytes, next());
        }
        if (first) {
            whole = hold(MemoryClass::gradients, bytes, next());
        } else {
            reread_ += bytes;
        }
        return whole;
    };
    return {begin(parts.dense * element, add_up_whole(dense_axes_), sums.whole.dense),
            begin(parts.experts * element / plan_.ways.expert, add_up_whole(expert_axes_),
                  sums.whole.experts)};
}

void StepBuilder::wait_for_reductions(std::size_t pending) {
    const std::size_t end = reductions_.size() - std::min(pending, reductions_.size());
    for (; reductions_waited_ < end; ++reductions_waited_) {
        const std::vector<OpIndex>& ops = reductions_[reductions_waited_];
        waits_.insert(waits_.end(), ops.begin(), ops.end());
    }
}

OpIndex StepBuilder::reduce(Bucket& bucket, double bytes, std::string_view label) {
    const bool whole = plan_.overlap.bucket == sim::Bytes::infinity();
    const std::string suffix = whole ? "" : fmt::format(" bucket {}", bucket.number++);
    const auto reduction = [&](std::string_view verb, Operation operation,
                               const std::vector<std::string>& axes, double size, OpIndex after) {
        return add_collective(name(fmt::format("{} {}{}{}", verb, label, bucket.what, suffix)),
                              {operation, Purpose::gradients, axes, sim::Bytes(size)}, {after});
    };
    const int microbatch = bucket.parts.front().microbatch;  // of all parts
    const bool first = microbatch == 0;
    std::vector<BufferId> taken;
    for (double left = bytes; left > 0 && !bucket.parts.empty();) {
        Bucket::Part& part = bucket.parts.front();
        const double share = std::min(left, part.bytes);
        left -= share;
        part.bytes -= share;
        if (part.bytes > 0) {
            break;
        }
        taken.push_back(part.unreduced);
        bucket.parts.erase(bucket.parts.begin());
    }
    bucket.bytes -= bytes;

    const auto release_all = [&](OpIndex after) {
        for (const BufferId buffer : taken) {
            release(buffer, after);
        }
        taken.clear();
    };
    OpIndex end = last_compute_;
    const bool scatters = !bucket.axes.empty();
    const bool shards = plan_.zero == 2;
    const double shard = bytes / bucket.ways;
    if (scatters) {
        end = reduction("reduce-scatter", Operation::reduce_scatter, bucket.axes, bytes, end);
        release_all(end);
        if (first || shards) {
            taken.push_back(hold(MemoryClass::gradients, shard, end));
        }
    }
    if (plan_.ways.data > 1 && shards) {
        end = reduction(scatters ? "scatter shards of" : "reduce-scatter",
                        Operation::reduce_scatter, {"data"}, shard, end);
        release_all(end);
        if (first) {
            hold(MemoryClass::gradients, shard / plan_.ways.data, end);
        }
    } else if (plan_.ways.data > 1 && microbatch == plan_.batch.microbatches - 1) {
        end = reduction("all-reduce", Operation::all_reduce, {"data"}, shard, end);
    }
    return end;
}

void StepBuilder::fill(Bucket& bucket, double bytes, BufferId unreduced, int microbatch) {
    if (bytes > 0) {
        bucket.parts.push_back({unreduced, bytes, microbatch});
        bucket.bytes += bytes;
    }
}

void StepBuilder::reduce_group(const std::string& name, const Weights& weights, Gradients unreduced,
                               std::string_view label) {
    const Weights parts = split(weights);
    const double element = plan_.precision.gradients / plan_.ways.of_matrix();
    const int microbatch = accumulated_[name].reduced++;
    fill(dense_bucket_, parts.dense * element, unreduced.dense, microbatch);
    fill(expert_bucket_, parts.experts * element / plan_.ways.expert, unreduced.experts,
         microbatch);
    if (plan_.overlap.bucket == sim::Bytes::infinity()) {
        flush(label);
        return;
    }
    for (Bucket* bucket : {&dense_bucket_, &expert_bucket_}) {
        while (bucket->bytes >= plan_.overlap.bucket.value()) {
            reductions_.push_back({reduce(*bucket, plan_.overlap.bucket.value())});
        }
    }
}

void StepBuilder::flush(std::string_view label) {
    std::vector<OpIndex> ends;
    for (Bucket* bucket : {&dense_bucket_, &expert_bucket_}) {
        if (bucket->bytes > 0) {
            ends.push_back(reduce(*bucket, bucket->bytes, label));
        }
    }
    reductions_.push_back(std::move(ends));
}

void StepBuilder::optimize(double parameters) {
    pass_ = Pass::backward;  // what is left of the buckets
    flush();
    pass_ = Pass::optimizer;
    wait_for_reductions(0);
    if (plan_.zero > 0) {
        optimize_shards(parameters);
    } else {
        compute("update", optimizer_update(local(parameters), plan_.optimizer, plan_.precision));
    }
}

void StepBuilder::optimize_shards(double parameters) {
    const Precision& bytes = plan_.precision;
    const double written = bytes.parameters > bytes.copy() ? bytes.copy() : 0;
    std::vector<const WeightUse*> groups;
    for (const WeightUse& use : uses_) {
        if (std::ranges::none_of(groups,
                                 [&](const WeightUse* one) { return one->part == use.part; })) {
            groups.push_back(&use);
        }
    }
    double left = parameters;  // a tied table is in two groups: it is updated in the first
    for (const WeightUse* use : groups) {
        const double updated = use == groups.back() ? left : use->weights.total();
        left -= updated;
        layer_ = use->layer;
        const double share = local(updated) / plan_.ways.data;
        const OpIndex update = compute(fmt::format("update {}", use->part),
                                       optimizer_update(share, plan_.optimizer, bytes, written));
        add_collective(name(fmt::format("gather {}", use->part)),
                       {Operation::all_gather,
                        Purpose::weights,
                        {"data"},
                        sim::Bytes(local(updated) * bytes.copy())},
                       {update});
    }
}

}  // namespace podsim::workloads
