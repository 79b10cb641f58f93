#include "workloads/builder/step_builder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace podsim::workloads {

using collectives::Operation;

StepBuilder::StepBuilder(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                         std::vector<WeightUse> uses, double parameters)
    : plan_(plan),
      shard_(make_shard(model, plan, ranks)),
      uses_(std::move(uses)),
      stretches_(uses_, plan.overlap.weights) {
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        layers_.push_back(layer_weights(model, layer_kind(model, layer)));
    }
    if (plan_.ways.tensor > 1) {
        tensor_axes_.emplace_back("tensor");
    }
    if (plan_.ways.tensor_transpose > 1) {
        tensor_axes_.emplace_back("tensor_transpose");
    }
    if (plan_.ways.fsdp > 1) {
        expert_axes_.emplace_back("fsdp");
    }
    if (plan_.ways.context > 1) {
        expert_axes_.emplace_back("context");
    }
    dense_axes_ = expert_axes_;
    if (plan_.ways.expert > 1) {
        dense_axes_.emplace_back("expert");
    }
    expert_ways_ = static_cast<double>(plan_.ways.fsdp) * plan_.ways.context;
    dense_ways_ = expert_ways_ * plan_.ways.expert;

    dense_bucket_.ways = dense_ways_;
    expert_bucket_.ways = expert_ways_;
    program_.priority = plan_.overlap.priority;

    const double held = local(parameters);
    const bool sharded = plan_.zero > 0;
    const double updated = sharded ? held / plan_.ways.data : held;
    const Precision& bytes = plan_.precision;
    hold(MemoryClass::parameters, held * (sharded ? bytes.copy() : bytes.parameters), kWholeStep);
    if (sharded && bytes.parameters > bytes.copy()) {
        hold(MemoryClass::parameters, updated * bytes.parameters, kWholeStep);
    }
    if (plan_.optimizer == Optimizer::adam) {
        hold(MemoryClass::optimizer, updated * 2 * bytes.optimizer_moment, kWholeStep);
    }
}

std::string StepBuilder::name(std::string_view what) const {
    if (pass_ == Pass::optimizer) {
        return fmt::format("{} {}", part_, what);
    }
    return fmt::format("{}{} {} {}", of_microbatch(microbatch_), part_, to_string(pass_), what);
}

std::string StepBuilder::label_of(std::size_t group) const {
    const std::string_view label = name_of_group(plan_.overlap.weights, group);
    return label.empty() ? "" : fmt::format("{} ", label);
}

std::string StepBuilder::of_microbatch(int microbatch) const {
    return plan_.batch.microbatches == 1 ? "" : fmt::format("microbatch {} ", microbatch);
}

OpIndex StepBuilder::add(std::string name, Work work, std::vector<OpIndex> after) {
    program_.ops.push_back({std::move(name), pass_, layer_, std::move(work), std::move(after)});
    return next() - 1;
}

OpIndex StepBuilder::add_collective(std::string name, Collective collective,
                                    std::vector<OpIndex> after) {
    wait_for_turn(after);
    collectives_.push_back(add(std::move(name), std::move(collective), std::move(after)));
    return collectives_.back();
}

void StepBuilder::wait_for_turn(std::vector<OpIndex>& after) const {
    const auto in_flight = static_cast<std::size_t>(plan_.overlap.collectives_in_flight);
    if (in_flight > 0 && collectives_.size() >= in_flight) {
        after.push_back(collectives_[collectives_.size() - in_flight]);
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
    }
}

OpIndex StepBuilder::compute(std::string_view what, Compute work) {
    work.hbm += sim::Bytes(std::exchange(reread_, 0));
    if (pending_ && !work.matmuls.empty()) {
        const Pending gather = *std::exchange(pending_, std::nullopt);
        return done_reading(compute_gathered(
            what, gather,
            [&](std::size_t piece) {
                return part_of_rows(work, order(gather).pieces[piece].share);
            },
            false));
    }
    return done_reading(add_compute(name(what), std::move(work), chain()));
}

OpIndex StepBuilder::add_compute(std::string name, Compute work, std::vector<OpIndex> after) {
    const std::vector<OpIndex> waits = std::exchange(waits_, {});
    after.insert(after.end(), waits.begin(), waits.end());
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    last_ = last_compute_ = add(std::move(name), std::move(work), std::move(after));
    return last_;
}

std::vector<OpIndex> StepBuilder::chain() {
    if (pending_) {
        const Pending gather = *std::exchange(pending_, std::nullopt);
        block_on_gather(gather.what, gather.bytes);
    }
    std::vector<OpIndex> after = std::exchange(sums_, {});
    for (const OpIndex op : {std::exchange(before_receive_, kWholeStep), last_}) {
        if (op != kWholeStep) {
            after.push_back(op);
        }
    }
    return after;
}

OpIndex StepBuilder::blocking(std::string_view what, Collective collective) {
    std::vector<OpIndex> after = chain();
    return last_ = add_collective(name(what), std::move(collective), std::move(after));
}

// ---- tensor and context collectives

double StepBuilder::full_rows() const {
    return shard_.tokens * shard_.block_rows() * shard_.precision.compute;
}

double StepBuilder::local_rows() const {
    return shard_.rows * shard_.d_model * shard_.precision.compute;
}

OpIndex StepBuilder::gather_over_tensor(std::string_view what, double bytes) {
    if (overlaps()) {
        pending_ = {std::string(what), bytes, Purpose::tensor};
        return next();
    }
    return plan_.ways.tensor == 1 ? next() : block_on_gather(what, bytes);
}

OpIndex StepBuilder::scatter_over_tensor(std::string_view what, double bytes, OpIndex producer) {
    if (plan_.ways.tensor == 1) {
        return producer;
    }
    if (std::exchange(scattered_, false)) {
        return last_;
    }
    return block_on_scatter(what, bytes, producer);
}

OpIndex StepBuilder::gather_rows(std::string_view what) {
    return gather_over_tensor(what, full_rows());
}

OpIndex StepBuilder::scatter_rows(std::string_view what, OpIndex producer) {
    return scatter_over_tensor(what, full_rows(), producer);
}

OpIndex StepBuilder::gather_rows_ahead(std::string_view what) {
    return gather_ahead(what, full_rows());
}

OpIndex StepBuilder::gather_tokens_ahead(std::string_view what) {
    return gather_ahead(what, token_bytes());
}

double StepBuilder::token_bytes() const {
    return shard_.experts.tokens * shard_.d_model * shard_.precision.compute;
}

OpIndex StepBuilder::exchange_tokens(std::string_view what, bool back) {
    if (plan_.ways.expert == 1) {
        return last();
    }
    const double own =
        shard_.experts.copies * shard_.d_model * shard_.precision.compute / plan_.ways.tensor;
    Collective exchange{
        Operation::all_to_all, Purpose::expert, {"expert"}, sim::Bytes(own * plan_.ways.expert)};
    if (plan_.experts.uneven()) {
        exchange.loads = plan_.experts.loads;
        exchange.returning = back;
    }
    return blocking(fmt::format("exchange {}", what), std::move(exchange));
}

OpIndex StepBuilder::gather_tokens(std::string_view what) {
    return gather_over_tensor(what, token_bytes());
}

OpIndex StepBuilder::scatter_tokens(std::string_view what, OpIndex producer) {
    return scatter_over_tensor(what, token_bytes(), producer);
}

OpIndex StepBuilder::gather_kv(std::string_view what) {
    if (shard_.kv_split_by_columns) {
        const OpIndex columns =
            gather_columns(fmt::format("columns of {}", what),
                           shard_.all_kv_heads * (shard_.head_dim + shard_.value_dim));
        if (plan_.ways.context == 1) {
            return columns;
        }
    }
    if (plan_.ways.context == 1) {
        return next();
    }
    if (plan_.overlap.context_steps) {
        pending_ = {std::string(what), shard_.kv_elements() * shard_.precision.compute,
                    Purpose::context};
        return next();
    }
    return blocking(fmt::format("gather {}", what),
                    {Operation::all_gather,
                     Purpose::context,
                     {"context"},
                     sim::Bytes(shard_.kv_elements() * shard_.precision.compute)});
}

OpIndex StepBuilder::scatter_kv(std::string_view what, OpIndex producer) {
    OpIndex scattered = producer;
    if (plan_.ways.context > 1 && !plan_.overlap.context_steps) {
        const double bytes = shard_.kv_elements() * shard_.precision.compute;
        scattered =
            blocking(fmt::format("scatter {}", what),
                     {Operation::reduce_scatter, Purpose::context, {"context"}, sim::Bytes(bytes)});
        hold_between(MemoryClass::buffers, bytes, producer, scattered);
    }
    if (shard_.kv_split_by_columns) {
        scattered =
            scatter_columns(fmt::format("columns of {}", what),
                            shard_.all_kv_heads * (shard_.head_dim + shard_.value_dim), scattered);
    }
    return scattered;
}

// ---- parts of the step

void StepBuilder::set_part(std::string part, Pass pass, int layer) {
    part_ = std::move(part);
    layer_ = layer;
    pass_ = pass;
}

void StepBuilder::begin_unit(int microbatch) {
    microbatch_ = microbatch;
    program_.units.push_back(next());
    unit_before_began_ = std::exchange(unit_began_, last_);
}

void StepBuilder::end_unit() {
    if (plan_.batch.microbatches > 1 && (dense_bucket_.bytes > 0 || expert_bucket_.bytes > 0)) {
        flush();
    }
}

// ---- other stages

OpIndex StepBuilder::receive_rows(std::string_view what, Handover handover) {
    handover.bytes = sim::Bytes(local_rows());
    std::vector<OpIndex> after;
    if (unit_before_began_ != kWholeStep) {
        after.push_back(unit_before_began_);
    }
    const OpIndex received = add(name(what), handover, std::move(after));
    before_receive_ = std::exchange(last_, received);
    return received;
}

void StepBuilder::send_rows(std::string_view what, Handover handover) {
    handover.bytes = sim::Bytes(local_rows());
    std::vector<OpIndex> after = sums_;
    after.push_back(last_);
    hold_between(MemoryClass::buffers, local_rows(), last_,
                 add(name(what), handover, std::move(after)));
}

void StepBuilder::exchange_gradients(double parameters, const Handover& ours,
                                     const Handover& theirs) {
    const double bytes =
        local(parameters) * plan_.precision.gradients / (plan_.zero == 2 ? plan_.ways.data : 1);
    Handover sent = ours;
    Handover received = theirs;
    sent.bytes = received.bytes = sim::Bytes(bytes);
    flush();
    std::vector<OpIndex> after;
    for (std::size_t i = reductions_waited_; i < reductions_.size(); ++i) {
        after.insert(after.end(), reductions_[i].begin(), reductions_[i].end());
    }
    std::ranges::sort(after);
    add(name("send gradients"), sent, after);
    const OpIndex end = add(name("receive gradients"), received, std::move(after));
    hold(MemoryClass::gradients, bytes, end);
    reductions_.back().push_back(end);
}

// ---- memory

BufferId StepBuilder::hold(MemoryClass memory_class, double bytes, OpIndex from) {
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
    std::erase_if(program_.buffers, [](const Buffer& buffer) { return buffer.bytes.value() == 0; });
    return std::move(program_);
}

}  // namespace podsim::workloads
