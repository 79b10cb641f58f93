#include "workloads/plan/pipeline_order.h"

#include <algorithm>

#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

using Kind = PipelineUnit::Kind;

std::vector<PipelineUnit> all_forward_first(const TrainingPlan& plan) {
    std::vector<PipelineUnit> units;
    for (const Kind kind : {Kind::forward, Kind::backward}) {
        for (int microbatch = 0; microbatch < plan.batch.microbatches; ++microbatch) {
            units.push_back({kind, 0, microbatch});
        }
    }
    return units;
}

/// 1F1B, and ZB-H1 with weight gradients that lag.
std::vector<PipelineUnit> one_by_one(const TrainingPlan& plan, int stage) {
    const bool split = plan.pipeline.schedule == PipelineSchedule::zero_bubble;
    std::vector<PipelineUnit> units;
    units.reserve(3 * static_cast<std::size_t>(plan.batch.microbatches));
    const int ahead = std::min(plan.ways.pipeline - stage - 1, plan.batch.microbatches);
    for (int k = 0; k < ahead; ++k) {
        units.push_back({Kind::forward, 0, k});
    }
    for (int k = 0; k < plan.batch.microbatches; ++k) {
        if (ahead + k < plan.batch.microbatches) {
            units.push_back({Kind::forward, 0, ahead + k});
        }
        units.push_back({Kind::backward, 0, k});
        if (split && k >= stage) {
            units.push_back({Kind::weights, 0, k - stage});
        }
    }
    for (int k = std::max(plan.batch.microbatches - stage, 0); split && k < plan.batch.microbatches;
         ++k) {
        units.push_back({Kind::weights, 0, k});
    }
    return units;
}

std::vector<PipelineUnit> interleaved(const TrainingPlan& plan, int stage) {
    const int p = plan.ways.pipeline;
    const int v = plan.pipeline.chunks;
    const int total = plan.batch.microbatches * v;
    const auto unit = [&](Kind kind, int k) {
        const int chunk = k % (p * v) / p;
        return PipelineUnit{kind, kind == Kind::forward ? chunk : v - 1 - chunk,
                            k / (p * v) * p + k % p};
    };
    const int ahead =
        plan.batch.microbatches == p ? total : std::min(2 * (p - stage - 1) + (v - 1) * p, total);
    std::vector<PipelineUnit> units;
    units.reserve(2 * static_cast<std::size_t>(total));
    for (int k = 0; k < ahead; ++k) {
        units.push_back(unit(Kind::forward, k));
    }
    for (int k = 0; k < total; ++k) {
        if (ahead + k < total) {
            units.push_back(unit(Kind::forward, ahead + k));
        }
        units.push_back(unit(Kind::backward, k));
    }
    return units;
}

}  // namespace

std::string_view to_string(PipelineSchedule schedule) {
    switch (schedule) {
        case PipelineSchedule::gpipe:
            return "gpipe";
        case PipelineSchedule::one_f_one_b:
            return "1f1b";
        case PipelineSchedule::interleaved:
            return "interleaved";
        case PipelineSchedule::zero_bubble:
            return "zero_bubble";
    }
    return "?";
}

namespace {

std::vector<PipelineUnit> training_order(const TrainingPlan& plan, int stage) {
    switch (plan.pipeline.schedule) {
        case PipelineSchedule::gpipe:
            return all_forward_first(plan);
        case PipelineSchedule::interleaved:
            return interleaved(plan, stage);
        case PipelineSchedule::one_f_one_b:
        case PipelineSchedule::zero_bubble:
            break;
    }
    return one_by_one(plan, stage);
}

}  // namespace

std::vector<PipelineUnit> stage_order(const TrainingPlan& plan, int stage) {
    std::vector<PipelineUnit> units = training_order(plan, stage);
    if (plan.forward_only) {
        std::erase_if(units, [](const PipelineUnit& unit) {
            return unit.kind != PipelineUnit::Kind::forward;
        });
    }
    return units;
}

double bubble_fraction(const TrainingPlan& plan, const PassTimes& times) {
    const double idle = plan.ways.pipeline - 1;
    if (plan.pipeline.schedule != PipelineSchedule::zero_bubble || plan.forward_only) {
        return idle / (static_cast<double>(plan.pipeline.chunks) * plan.batch.microbatches + idle);
    }
    const sim::Seconds through = times.forward + times.input_gradients;
    const sim::Seconds bubble = std::max(through - times.weight_gradients, sim::Seconds(0)) * idle;
    return bubble / ((through + times.weight_gradients) * plan.batch.microbatches + bubble);
}

}  // namespace podsim::workloads
