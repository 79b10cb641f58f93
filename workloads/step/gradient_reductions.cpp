#include "workloads/step/gradient_reductions.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "workloads/plan/axis_names.h"
#include "workloads/plan/plan.h"
#include "workloads/program/op_names.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

using collectives::Operation;

GradientReductions::GradientReductions(const TrainingPlan& plan, const WeightSharding& sharding,
                                       OpNames& names, Chain& chain, HeldBuffers& buffers)
    : plan_(plan),
      sharding_(sharding),
      names_(names),
      chain_(chain),
      buffers_(buffers),
      dense_{"gradients", sharding.dense_axes(), sharding.dense_ways()},
      experts_{"expert gradients", sharding.expert_axes(), sharding.expert_ways()} {}

bool GradientReductions::add_up_whole(const std::vector<std::string>& axes) const {
    if (plan_.zero == 2) {
        return false;
    }
    const bool in_each = plan_.all_reduces_each() && plan_.ways.data > 1;
    return axes.empty() ? !in_each : plan_.reduces_once();
}

void GradientReductions::reduce(const Weights& weights, const Gradients& unreduced) {
    reduce_group(names_.part(), weights, unreduced, {});
}

Tensor GradientReductions::write(Gradients& gradients, std::string_view what, Compute work,
                                 Sources needs) {
    work.hbm += sim::Bytes(std::exchange(gradients.reread, 0));
    const OpIndex op = chain_.compute(what, std::move(work), std::move(needs) + gradients.added_to);
    gradients.written_by.push_back(op);
    return {op, op, {op}};
}

void GradientReductions::begin_matrix(Matrix matrix) {
    const std::size_t group = sharding_.group(matrix);
    if (!open_.contains(group)) {
        open_[group].gradients = begin(names_.part() + ' ' + sharding_.label(group),
                                       sharding_.of_group(names_.layer(), group), {});
    }
}

Tensor GradientReductions::write_matrix(Matrix matrix, std::string_view what, Compute work,
                                        Sources needs) {
    begin_matrix(matrix);
    const std::size_t group = sharding_.group(matrix);
    OpenGroup& open = open_.at(group);
    needs = with_scales(matrix, what, work, std::move(needs));
    Tensor made = write(open.gradients, what, std::move(work), std::move(needs));
    const auto bit = [](Matrix of) { return 1U << static_cast<unsigned>(of); };
    open.written |= bit(matrix);
    const LayerWeights& layer = sharding_.layer(names_.layer());
    const bool complete = std::ranges::all_of(kMatrices, [&](Matrix other) {
        return sharding_.group(other) != group || !layer.has(other) ||
               (open.written & bit(other)) != 0;
    });
    if (complete) {
        const std::string label = sharding_.label(group);
        reduce_group(names_.part() + ' ' + label, sharding_.of_group(names_.layer(), group),
                     open.gradients, label);
        open_.erase(group);
    }
    return made;
}

Sources GradientReductions::with_scales(Matrix matrix, std::string_view what, const Compute& work,
                                        Sources needs) {
    const bool of_experts = sharding_.layer(names_.layer()).of(matrix).experts > 0;
    const Bucket& split = of_experts ? experts_ : dense_;
    if (!plan_.precision.finds_scales() || work.dtype == MatmulDtype::bf16 || split.axes.empty()) {
        return needs;
    }
    constexpr double kMagnitude = 4;  // bytes
    // The reduction holds up the matmul like a tensor collective, and precedes
    // gathers that run ahead.
    double columns = 0;
    for (const MatmulShape& one : work.matmuls) {
        columns += (one.m + one.n) * (of_experts ? one.count : 1);
    }
    return {chain_.blocking(
        words("reduce scales of", what),
        {Operation::all_reduce, Purpose::tensor, split.axes, sim::Bytes(columns * kMagnitude)},
        std::move(needs))};
}

Gradients GradientReductions::begin(const std::string& group, const Weights& weights,
                                    Gradients carried) {
    wait_for_reductions(static_cast<std::size_t>(plan_.overlap.reductions_in_flight) - 1);
    if (carried.dense != kNoBuffer) {
        carried.added_to = carried.added_to + carried.written_by;
        return carried;
    }
    const Weights bytes = sharding_.bytes(weights, plan_.precision.gradients);
    Sums& sums = sums_[group];
    const bool first = sums.begun++ == 0;
    Gradients begun;
    const auto begin = [&](double size, bool stays, BufferId& whole) {
        if (!stays) {
            return buffers_.hold(MemoryClass::gradients, size, chain_.next());
        }
        if (first) {
            whole = buffers_.hold(MemoryClass::gradients, size, chain_.next());
        } else {
            begun.reread += size;
            begun.added_to = sums.whole.written_by;
        }
        return whole;
    };
    begun.dense = begin(bytes.dense, add_up_whole(dense_.axes), sums.whole.dense);
    begun.experts = begin(bytes.experts, add_up_whole(experts_.axes), sums.whole.experts);
    return begun;
}

void GradientReductions::reduce_group(const std::string& name, const Weights& weights,
                                      const Gradients& unreduced, std::string_view label) {
    const Weights bytes = sharding_.bytes(weights, plan_.precision.gradients);
    Sums& sums = sums_[name];
    const int microbatch = sums.ended++;
    sums.whole.written_by = unreduced.added_to + unreduced.written_by;
    fill(dense_, {unreduced.dense, bytes.dense, microbatch, unreduced.written_by, &sums});
    fill(experts_, {unreduced.experts, bytes.experts, microbatch, unreduced.written_by, &sums});
    if (plan_.overlap.bucket == sim::Bytes::infinity()) {
        flush(label);
        return;
    }
    for (Bucket* bucket : {&dense_, &experts_}) {
        while (bucket->bytes >= plan_.overlap.bucket.value()) {
            reductions_.push_back({reduce_bucket(*bucket, plan_.overlap.bucket.value())});
        }
    }
}

void GradientReductions::fill(Bucket& bucket, Bucket::Part part) {
    if (part.bytes > 0) {
        bucket.bytes += part.bytes;
        bucket.parts.push_back(std::move(part));
    }
}

GradientReductions::Taken GradientReductions::take(Bucket& bucket, double bytes) {
    Taken taken;
    taken.microbatch = bucket.parts.front().microbatch;  // the same for all parts
    for (double left = bytes; left > 0 && !bucket.parts.empty();) {
        Bucket::Part& part = bucket.parts.front();
        const double share = std::min(left, part.bytes);
        left -= share;
        part.bytes -= share;
        taken.written_by = std::move(taken.written_by) + part.written_by;
        taken.sums.push_back(part.sums);
        if (part.bytes > 0) {
            break;
        }
        taken.whole.push_back(part.unreduced);
        bucket.parts.erase(bucket.parts.begin());
    }
    bucket.bytes -= bytes;
    return taken;
}

void GradientReductions::release_whole(Taken& taken, OpIndex after) {
    for (const BufferId buffer : std::exchange(taken.whole, {})) {
        buffers_.release(buffer, after);
    }
}

OpIndex GradientReductions::reduce_bucket(Bucket& bucket, double bytes, std::string_view label) {
    Taken taken = take(bucket, bytes);
    const bool first = taken.microbatch == 0;
    const bool last = taken.microbatch == plan_.batch.microbatches - 1;
    const bool once = plan_.reduces_once();
    OpIndex end = chain_.last_compute();
    if (once && !last) {
        return end;  // they add up
    }
    const bool whole = plan_.overlap.bucket == sim::Bytes::infinity();
    const std::string suffix = whole ? "" : fmt::format(" bucket {}", bucket.number++);
    const auto reduction = [&](std::string_view verb, Operation operation,
                               const std::vector<std::string>& axes, double size, Sources needs,
                               OpIndex after) {
        return chain_.collective(
            names_.label(words(verb, std::string(label) + bucket.what + suffix)),
            {operation, Purpose::gradients, axes, sim::Bytes(size)},
            {std::move(needs), {}, {after}});
    };
    Sources made = taken.written_by;
    const bool scatters = !bucket.axes.empty();
    const auto with_earlier = [&](bool scattered) {
        for (const Sums* sums : taken.sums) {
            made = std::move(made) + (scattered ? sums->shards : sums->whole.written_by);
        }
    };
    const bool shards = plan_.zero == 2;
    const bool in_each = plan_.all_reduces_each() && plan_.ways.data > 1;
    const double shard = bytes / bucket.ways;
    if (scatters) {
        if (once) {
            with_earlier(false);
        }
        end = reduction("reduce-scatter", Operation::reduce_scatter, bucket.axes, bytes, made, end);
        made = {end};
        release_whole(taken, end);
        if (first || shards || once || in_each) {
            taken.whole.push_back(buffers_.hold(MemoryClass::gradients, shard, end));
        }
        for (Sums* sums : taken.sums) {
            sums->shards.push_back(end);
        }
    }
    const char* const verb = scatters ? "scatter shards of" : "reduce-scatter";
    if (plan_.ways.data > 1 && shards) {
        end = reduction(verb, Operation::reduce_scatter, {axis::data}, shard, made, end);
        made = {end};
        release_whole(taken, end);
        if (first) {
            buffers_.hold(MemoryClass::gradients, shard / plan_.ways.data, end);
        }
    } else if (plan_.ways.data > 1 && (last || in_each)) {
        const OpIndex in_turn = end;
        if (!in_each) {
            with_earlier(scatters);
        }
        end = plan_.zero == 1 && !in_each
                  ? reduction(verb, Operation::reduce_scatter, {axis::data}, shard, made, end)
                  : reduction("all-reduce", Operation::all_reduce, {axis::data}, shard, made, end);
        made = {end};
        if (in_each && !first) {
            release_whole(taken, end);  // added to those of the first microbatch
        }
        if (plan_.overlap.layer_loop && plan_.overlap.data_runs_on) {
            next_turn_.push_back(end);
            end = in_turn;
        }
    }
    for (Sums* sums : taken.sums) {
        sums->reduced = std::move(sums->reduced) + made;
    }
    return end;
}

void GradientReductions::flush(std::string_view label) {
    Sources ends;
    for (Bucket* bucket : {&dense_, &experts_}) {
        if (bucket->bytes > 0) {
            ends.push_back(reduce_bucket(*bucket, bucket->bytes, label));
        }
    }
    reductions_.push_back(std::move(ends));
}

void GradientReductions::end_unit() {
    if (plan_.batch.microbatches > 1 && waiting()) {
        flush();
    }
}

Sources GradientReductions::end_turn() {
    if (waiting()) {
        flush();
    }
    const Sources run_on = std::exchange(this_turn_, std::exchange(next_turn_, {}));
    Sources ended = pending() + run_on;
    wait_for_reductions(0);
    chain_.bound(run_on);
    return ended;
}

void GradientReductions::wait_for_reductions(std::size_t pending) {
    const std::size_t end = reductions_.size() - std::min(pending, reductions_.size());
    for (; reductions_waited_ < end; ++reductions_waited_) {
        chain_.bound(reductions_[reductions_waited_]);
    }
}

Sources GradientReductions::pending() const {
    Sources ops;
    for (std::size_t i = reductions_waited_; i < reductions_.size(); ++i) {
        ops = std::move(ops) + reductions_[i];
    }
    return ops;
}

Sources GradientReductions::reduced() const {
    Sources ops;
    for (const auto& [name, sums] : sums_) {
        ops = std::move(ops) + sums.reduced;
    }
    return ops;
}

}  // namespace podsim::workloads
