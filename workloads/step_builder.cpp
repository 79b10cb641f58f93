#include "workloads/step_builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace podsim::workloads {

using collectives::Operation;

StepBuilder::StepBuilder(const ModelSpec& model, const TrainingPlan& plan,
                         std::vector<WeightUse> uses)
    : plan_(plan), shard_(make_shard(model, plan)), uses_(std::move(uses)) {
    if (plan_.fsdp > 1) {
        shard_axes_.emplace_back("fsdp");
    }
    if (plan_.context > 1) {
        shard_axes_.emplace_back("context");
    }
    shard_ways_ = static_cast<double>(plan_.fsdp) * plan_.context;

    const auto total = static_cast<double>(count_parameters(model).total);
    hold(MemoryClass::parameters, local(total) * plan_.precision.parameters, kWholeStep);
    if (plan_.optimizer == Optimizer::adam) {
        hold(MemoryClass::optimizer, local(total) * 2 * plan_.precision.optimizer_moment,
             kWholeStep);
    }
}

std::string StepBuilder::name(std::string_view what) const {
    return pass_ == Pass::optimizer ? fmt::format("{} {}", part_, what)
                                    : fmt::format("{} {} {}", part_, to_string(pass_), what);
}

OpIndex StepBuilder::add(std::string name, std::variant<Compute, Collective> work,
                         std::vector<OpIndex> after) {
    program_.ops.push_back({std::move(name), pass_, layer_, std::move(work), std::move(after)});
    return next() - 1;
}

OpIndex StepBuilder::compute(std::string_view what, Compute work) {
    std::vector<OpIndex> after = std::exchange(waits_, {});
    if (last_ != kWholeStep) {
        after.push_back(last_);
    }
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    last_ = last_compute_ = add(name(what), std::move(work), std::move(after));
    return last_;
}

OpIndex StepBuilder::blocking(std::string_view what, Collective collective) {
    std::vector<OpIndex> after;
    if (last_ != kWholeStep) {
        after.push_back(last_);
    }
    return last_ = add(name(what), std::move(collective), std::move(after));
}

// ---- tensor and context collectives

double StepBuilder::full_rows() const {
    return shard_.tokens * shard_.d_model * shard_.precision.compute;
}

double StepBuilder::local_rows() const {
    return shard_.rows * shard_.d_model * shard_.precision.compute;
}

OpIndex StepBuilder::gather_rows(std::string_view what) {
    if (plan_.tensor == 1) {
        return next();
    }
    return blocking(fmt::format("gather {}", what),
                    {Operation::all_gather, Purpose::tensor, {"tensor"}, sim::Bytes(full_rows())});
}

OpIndex StepBuilder::scatter_rows(std::string_view what, OpIndex producer) {
    if (plan_.tensor == 1) {
        return producer;
    }
    const OpIndex scattered =
        blocking(fmt::format("scatter {}", what),
                 {Operation::reduce_scatter, Purpose::tensor, {"tensor"}, sim::Bytes(full_rows())});
    hold_between(MemoryClass::buffers, full_rows(), producer, scattered);
    return scattered;
}

void StepBuilder::all_reduce_tensor(std::string_view what, double bytes) {
    if (plan_.tensor > 1) {
        blocking(fmt::format("reduce {}", what),
                 {Operation::all_reduce, Purpose::tensor, {"tensor"}, sim::Bytes(bytes)});
    }
}

OpIndex StepBuilder::gather_kv(std::string_view what) {
    if (plan_.context == 1) {
        return next();
    }
    return blocking(fmt::format("gather {}", what),
                    {Operation::all_gather,
                     Purpose::context,
                     {"context"},
                     sim::Bytes(shard_.kv_elements() * shard_.precision.compute)});
}

OpIndex StepBuilder::scatter_kv(std::string_view what, OpIndex producer) {
    if (plan_.context == 1) {
        return producer;
    }
    const double bytes = shard_.kv_elements() * shard_.precision.compute;
    const OpIndex scattered =
        blocking(fmt::format("scatter {}", what),
                 {Operation::reduce_scatter, Purpose::context, {"context"}, sim::Bytes(bytes)});
    hold_between(MemoryClass::buffers, bytes, producer, scattered);
    return scattered;
}

// ---- weights

void StepBuilder::gather_weights(std::size_t use) {
    const WeightUse& wanted = uses_[use];
    const double bytes = wanted.parameters / plan_.tensor * plan_.precision.compute;
    const auto ahead = static_cast<std::size_t>(plan_.prefetch_layers) + 1;
    std::vector<OpIndex> after;
    if (use >= ahead) {
        after.push_back(use_ends_[use - ahead]);
    }
    // The operation belongs to the use that needs it, not to the one under way.
    program_.ops.push_back(
        {fmt::format("{} {} gather weights", wanted.part, to_string(wanted.pass)), wanted.pass,
         wanted.layer,
         Collective{Operation::all_gather, Purpose::weights, shard_axes_, sim::Bytes(bytes)},
         std::move(after)});
    gathers_.push_back(next() - 1);
    gathered_.push_back(hold(MemoryClass::gathered_weights, bytes, gathers_.back()));
}

void StepBuilder::begin_use() {
    const std::size_t use = use_++;
    if (!shard_axes_.empty()) {
        const std::size_t ahead =
            std::min(uses_.size(), use + static_cast<std::size_t>(plan_.prefetch_layers) + 1);
        while (gathers_.size() < ahead) {
            gather_weights(gathers_.size());
        }
        waits_.push_back(gathers_[use]);
    }
    part_ = uses_[use].part;
    layer_ = uses_[use].layer;
    pass_ = uses_[use].pass;
}

void StepBuilder::set_part(std::string part, Pass pass) {
    part_ = std::move(part);
    layer_ = -1;
    pass_ = pass;
}

void StepBuilder::end_use() {
    if (!shard_axes_.empty()) {
        release(gathered_[use_ - 1], last_compute_);
    }
    use_ends_.push_back(last_compute_);
}

// ---- gradients

BufferId StepBuilder::begin_gradients(double parameters, BufferId carried) {
    const auto in_flight = static_cast<std::size_t>(plan_.reductions_in_flight);
    if (reductions_.size() >= in_flight) {
        waits_.push_back(reductions_[reductions_.size() - in_flight]);
    }
    if (carried != kNoBuffer) {
        return carried;
    }
    return hold(MemoryClass::gradients, parameters / plan_.tensor * plan_.precision.gradients,
                next());
}

void StepBuilder::reduce_gradients(double parameters, BufferId unreduced) {
    const double bytes = parameters / plan_.tensor * plan_.precision.gradients;
    OpIndex end = last_compute_;
    if (!shard_axes_.empty()) {
        end = add(name("reduce-scatter gradients"),
                  Collective{Operation::reduce_scatter, Purpose::gradients, shard_axes_,
                             sim::Bytes(bytes)},
                  {end});
        hold(MemoryClass::gradients, bytes / shard_ways_, end);
        release(unreduced, end);
    }
    if (plan_.data > 1) {
        end = add(name("all-reduce gradients"),
                  Collective{Operation::all_reduce,
                             Purpose::gradients,
                             {"data"},
                             sim::Bytes(bytes / shard_ways_)},
                  {end});
    }
    reductions_.push_back(end);
}

void StepBuilder::optimize(double parameters) {
    // Earlier reductions have ended: a compute operation before this one has waited for each.
    const auto in_flight = static_cast<std::size_t>(plan_.reductions_in_flight);
    const std::size_t first = reductions_.size() - std::min(in_flight, reductions_.size());
    waits_.insert(waits_.end(), reductions_.begin() + static_cast<std::ptrdiff_t>(first),
                  reductions_.end());
    compute("update", optimizer_update(local(parameters), plan_.optimizer, plan_.precision));
}

// ---- memory

BufferId StepBuilder::hold(MemoryClass memory_class, double bytes, OpIndex from) {
    if (bytes <= 0) {
        return kNoBuffer;
    }
    program_.buffers.push_back({memory_class, sim::Bytes(std::ceil(bytes)), from, {}});
    return static_cast<BufferId>(program_.buffers.size() - 1);
}

void StepBuilder::release(BufferId buffer, OpIndex after) {
    if (buffer != kNoBuffer) {
        program_.buffers[buffer].freed_after.push_back(after);
    }
}

void StepBuilder::hold_between(MemoryClass memory_class, double bytes, OpIndex from, OpIndex to) {
    release(hold(memory_class, bytes, from), to);
}

StepProgram StepBuilder::finish() {
    return std::move(program_);
}

}  // namespace podsim::workloads
