#include "workloads/step/weight_gathers.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "workloads/program/op_names.h"

namespace podsim::workloads {

WeightGathers::WeightGathers(const Overlap& overlap, const Precision& precision,
                             const WeightSharding& sharding, OpNames& names, Chain& chain,
                             HeldBuffers& buffers, std::vector<WeightUse> uses)
    : overlap_(overlap),
      precision_(precision),
      sharding_(sharding),
      names_(names),
      chain_(chain),
      buffers_(buffers),
      uses_(std::move(uses)),
      stretches_(uses_, overlap.weights) {}

std::size_t WeightGathers::may_gather(const Stretch& stretch) const {
    const std::size_t start = first_at(stretch.begins - overlap_.prefetch_layers);
    return overlap_.layer_loop ? std::max(start, first_at(static_cast<double>(stretch.use)))
                               : start;
}

void WeightGathers::gather_part(std::size_t stretch, std::string_view what,
                                const std::vector<std::string>& axes, double bytes) {
    if (axes.empty() || bytes == 0) {
        return;
    }
    const WeightUse& use = uses_[stretches_[stretch].use];
    const std::size_t start = may_gather(stretches_[stretch]);
    Sources after = turn_;
    if (start > 0) {
        after.push_back(end_of(start - 1));
    }
    std::ranges::sort(after);
    // The operation belongs to the use that needs it, not to the current one.
    const OpIndex gather = chain_.collective(
        names_.label(use.part, use.pass, use.layer, use.microbatch, words("gather", what)),
        {collectives::Operation::all_gather, Purpose::weights, axes, sim::Bytes(bytes)},
        {{}, after, after});
    gathered_.back().ops.push_back(gather);
    gathered_.back().buffers.push_back(buffers_.hold(MemoryClass::gathered_weights, bytes, gather));
}

Weights WeightGathers::bytes_of(const Stretch& of, const WeightUse& use) const {
    const bool backward = use.pass == Pass::backward;
    Weights bytes;
    for (const Matrix matrix : kMatrices) {
        if (!of.reads_all && sharding_.group(matrix) != of.group) {
            continue;
        }
        const Weights& elements = sharding_.layer(use.layer).of(matrix);
        const bool again = use.again.has(matrix);
        bytes += {elements.dense * (backward ? precision_.weights_backward(matrix, again)
                                             : precision_.weights()),
                  elements.experts * (backward ? precision_.expert_weights_backward(again)
                                               : precision_.expert_weights())};
    }
    return sharding_.bytes(bytes, 1);
}

void WeightGathers::gather(std::size_t stretch) {
    const Stretch& of = stretches_[stretch];
    const WeightUse& use = uses_[of.use];
    gathered_.emplace_back();
    if (of.first != stretch) {
        return;
    }
    const Weights bytes = use.layer >= 0 ? bytes_of(of, use)
                                         : sharding_.bytes(use.weights, precision_.plain_weights());
    const std::string label = of.reads_all ? "" : sharding_.label(of.group);
    gather_part(stretch, label + "weights", sharding_.dense_axes(), bytes.dense);
    gather_part(stretch, label + "expert weights", sharding_.expert_axes(), bytes.experts);
}

void WeightGathers::begin_use() {
    const WeightUse& use = uses_[use_++];
    read_.emplace_back();
    read_by_.fill(kWholeStep);
    begin_stretch();
    names_.set_part(use.part, use.pass, use.layer);
}

void WeightGathers::begin_stretch() {
    const std::size_t stretch = stretch_++;
    while (gathered_.size() < stretches_.size() &&
           may_gather(stretches_[gathered_.size()]) <= stretch) {
        gather(gathered_.size());
    }
    chain_.await(gathered_[stretch].ops);
}

void WeightGathers::end_stretch() {
    const Stretch& stretch = stretches_[stretch_ - 1];
    if (stretch.last) {
        const OpIndex reader = read_by_[stretch.group];
        for (const BufferId buffer : gathered_[stretch.first].buffers) {
            buffers_.release(buffer, reader == kWholeStep ? chain_.last_compute() : reader);
        }
    }
    stretch_ends_.push_back(chain_.last_compute());
}

bool WeightGathers::reads(Matrix matrix) {
    read_.back().push_back(matrix);
    const Stretch& now = stretches_[stretch_ - 1];
    if (now.reads_all || now.group == sharding_.group(matrix)) {
        return false;
    }
    end_stretch();
    begin_stretch();
    const Stretch& begun = stretches_[stretch_ - 1];
    if (begun.use != now.use || begun.group != sharding_.group(matrix)) {
        throw std::logic_error(
            fmt::format("{} reads {} out of turn", names_.label("pass").name, to_string(matrix)));
    }
    return true;
}

const Sources& WeightGathers::gathered() const {
    return gathered_[stretches_[stretch_ - 1].first].ops;
}

void WeightGathers::were_read() {
    read_by_[stretches_[stretch_ - 1].group] = chain_.last_compute();
}

}  // namespace podsim::workloads
