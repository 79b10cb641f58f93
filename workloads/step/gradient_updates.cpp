// The end of a step: the rest of the gradients' reductions, their norm, and the optimizer.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "workloads/plan/axes.h"
#include "workloads/plan/axis_names.h"
#include "workloads/plan/plan.h"
#include "workloads/step/gradient_reductions.h"
#include "workloads/work/work.h"

namespace podsim::workloads {

void GradientReductions::reduce_rest() {
    names_.set_pass(Pass::backward);
    if (waiting()) {
        flush();
    }
}

void GradientReductions::optimize(double parameters, const std::vector<WeightUse>& uses) {
    reduce_rest();
    names_.set_pass(Pass::optimizer);
    wait_for_reductions(0);
    Sources needs = reduced();
    if (plan_.clips_gradients) {
        needs = norm(parameters, std::move(needs));
    }
    if (plan_.zero > 0) {
        optimize_shards(parameters, uses, std::move(needs));
    } else {
        chain_.compute(
            "update",
            optimizer_update(sharding_.local(parameters), plan_.optimizer, plan_.precision),
            std::move(needs));
    }
}

Sources GradientReductions::norm(double parameters, Sources needs) {
    constexpr double kSum = 4;  // bytes
    const bool scattered = plan_.zero > 0;
    const double held = sharding_.local(parameters) / (scattered ? plan_.ways.data : 1);
    const OpIndex squares =
        chain_.compute("gradient norm", gradient_norm(held, plan_.precision), std::move(needs));
    std::vector<std::string> axes;
    for (const PlanAxis& row : kPlanAxes) {
        const bool alike = row.name == axis::pipeline || (row.name == axis::data && !scattered);
        if (plan_.ways.*row.ways > 1 && !alike) {
            axes.emplace_back(row.name);
        }
    }
    return axes.empty() ? Sources{squares}
                        : Sources{chain_.blocking("reduce gradient norm",
                                                  {collectives::Operation::all_reduce,
                                                   Purpose::gradients, axes, sim::Bytes(kSum)},
                                                  {squares})};
}

void GradientReductions::optimize_shards(double parameters, const std::vector<WeightUse>& uses,
                                         Sources needs) {
    const Precision& bytes = plan_.precision;
    const double written = bytes.parameters > bytes.copy() ? bytes.copy() : 0;
    std::vector<const WeightUse*> groups;
    std::unordered_set<std::string_view> seen;
    for (const WeightUse& use : uses) {
        if (!use.of_another && seen.insert(use.part).second) {
            groups.push_back(&use);
        }
    }
    double twice = -parameters;  // a tied table is in two groups: the first updates it
    for (const WeightUse* use : groups) {
        twice += use->weights.total();
    }
    for (const WeightUse* use : groups) {
        const double updated = use->weights.total() - (use->part == kUnembeddingPart ? twice : 0);
        names_.set_layer(use->layer);
        const OpIndex update =
            chain_.compute(words("update", use->part),
                           optimizer_update(sharding_.local(updated) / plan_.ways.data,
                                            plan_.optimizer, bytes, written),
                           needs);
        if (use == groups.front()) {
            needs = {update};
        }
        chain_.collective(names_.label(words("gather", use->part)),
                          {collectives::Operation::all_gather,
                           Purpose::weights,
                           {axis::data},
                           sim::Bytes(sharding_.local(updated) * bytes.copy())},
                          {{update}, {}, {update}});
    }
}

void GradientReductions::exchange(const std::string& group, double parameters, const Handover& ours,
                                  const Handover& theirs) {
    const double bytes = sharding_.local(parameters) * plan_.precision.gradients /
                         (plan_.zero > 0 ? plan_.ways.data : 1);
    Handover sent = ours;
    Handover received = theirs;
    sent.bytes = received.bytes = sim::Bytes(bytes);
    flush();
    Sources after = pending();
    std::ranges::sort(after);
    chain_.beside(names_.label("send gradients"), sent, {sums_.at(group).reduced, {}, after});
    const OpIndex end =
        chain_.beside(names_.label("receive gradients"), received, {{}, {}, std::move(after)});
    buffers_.hold(MemoryClass::gradients, bytes, end);
    reductions_.back().push_back(end);
    sums_.at(group).reduced.push_back(end);
}

}  // namespace podsim::workloads
