// The gathers of weights: uses, their stretches, and how far gathers run ahead of them (step_builder.h).
#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "workloads/builder/step_builder.h"

namespace podsim::workloads {

using collectives::Operation;

std::size_t StepBuilder::may_gather(const Stretch& stretch) const {
    const std::size_t start = may_start(stretch.begins);
    return plan_.overlap.layer_loop
               ? std::max(start, stretches_.first_at(static_cast<double>(stretch.use)))
               : start;
}

Weights StepBuilder::split(const Weights& weights) const {
    return plan_.ways.expert > 1 ? weights : Weights{weights.total(), 0};
}

void StepBuilder::gather_part(std::size_t stretch, std::string_view what,
                              const std::vector<std::string>& axes, double bytes) {
    if (axes.empty() || bytes == 0) {
        return;
    }
    const WeightUse& use = uses_[stretches_[stretch].use];
    const std::size_t start = may_gather(stretches_[stretch]);
    std::vector<OpIndex> after = turn_ends_;
    if (start > 0) {
        after.push_back(stretch_ends_[start - 1]);
    }
    std::ranges::sort(after);
    // The operation belongs to the use that needs it, not to the one under way.
    const OpIndex gather = add_collective(
        fmt::format("{}{} {} gather {}", of_microbatch(use.microbatch), use.part,
                    to_string(use.pass), what),
        {Operation::all_gather, Purpose::weights, axes, sim::Bytes(bytes)}, std::move(after));
    program_.ops[gather].pass = use.pass;
    program_.ops[gather].layer = use.layer;
    gathered_.back().ops.push_back(gather);
    gathered_.back().buffers.push_back(
        hold(MemoryClass::gathered_weights, bytes, gathered_.back().ops.back()));
}

void StepBuilder::gather_weights(std::size_t stretch) {
    const Stretch& of = stretches_[stretch];
    const WeightUse& use = uses_[of.use];
    gathered_.emplace_back();
    if (of.first != stretch) {
        return;
    }
    const bool of_layer = use.layer >= 0;
    const Weights weights =
        split(of.reads_all ? use.weights
                           : layers_[static_cast<std::size_t>(use.layer)].of_group(
                                 plan_.overlap.weights, of.group));
    const double element =
        (of_layer ? plan_.precision.weights() : plan_.precision.compute) / plan_.ways.of_matrix();
    const std::string label = of.reads_all ? "" : label_of(of.group);
    gather_part(stretch, label + "weights", dense_axes_, weights.dense * element);
    gather_part(stretch, label + "expert weights", expert_axes_,
                weights.experts * element / plan_.ways.expert);
}

void StepBuilder::begin_use() {
    const WeightUse& use = uses_[use_++];
    read_.emplace_back();
    read_by_.fill(kWholeStep);
    begin_stretch();
    part_ = use.part;
    layer_ = use.layer;
    pass_ = use.pass;
}

void StepBuilder::end_use() {
    end_stretch();
    end_turn();
}

void StepBuilder::end_turn() {
    if (!plan_.overlap.layer_loop) {
        return;
    }
    if (dense_bucket_.bytes > 0 || expert_bucket_.bytes > 0) {
        flush();
    }
    turn_ends_.clear();
    for (std::size_t i = reductions_waited_; i < reductions_.size(); ++i) {
        turn_ends_.insert(turn_ends_.end(), reductions_[i].begin(), reductions_[i].end());
    }
    wait_for_reductions(0);
}

void StepBuilder::begin_stretch() {
    const std::size_t stretch = stretch_++;
    while (gathered_.size() < stretches_.size() &&
           may_gather(stretches_[gathered_.size()]) <= stretch) {
        gather_weights(gathered_.size());
    }
    const std::vector<OpIndex>& ops = gathered_[stretch].ops;
    waits_.insert(waits_.end(), ops.begin(), ops.end());
    begin_transfers(stretch);
}

void StepBuilder::end_stretch() {
    const Stretch& stretch = stretches_[stretch_ - 1];
    if (stretch.last) {
        const OpIndex reader = read_by_[stretch.group];
        for (const BufferId buffer : gathered_[stretch.first].buffers) {
            release(buffer, reader == kWholeStep ? last_compute_ : reader);
        }
    }
    stretch_ends_.push_back(last_compute_);
}

void StepBuilder::reads(Matrix matrix) {
    read_.back().push_back(matrix);
    const Stretch& now = stretches_[stretch_ - 1];
    if (!now.reads_all && now.group != group(matrix)) {
        end_stretch();
        begin_stretch();
        const Stretch& begun = stretches_[stretch_ - 1];
        if (begun.use != now.use || begun.group != group(matrix)) {
            throw std::logic_error(
                fmt::format("{} reads {} out of turn", name("pass"), to_string(matrix)));
        }
    }
    reading_ = true;
}

OpIndex StepBuilder::done_reading(OpIndex op) {
    if (reading_) {
        read_by_[stretches_[stretch_ - 1].group] = last_compute_;
        reading_ = false;
    }
    return op;
}

}  // namespace podsim::workloads
