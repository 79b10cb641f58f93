#include "scenarios/explain/imbalance.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "scenarios/run/run_step.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {
namespace {

/// The most over the mean, of values of programs.
template <class Value>
double most_over_mean(std::size_t programs, const Value& value) {
    double most = 0;
    double sum = 0;
    for (std::size_t p = 0; p < programs; ++p) {
        most = std::max(most, value(p));
        sum += value(p);
    }
    return sum > 0 ? most * static_cast<double>(programs) / sum : 1;
}

double attention_flops(const workloads::StepProgram& program) {
    sim::Flops sum;
    for (const workloads::Op& op : program.ops) {
        const auto* work = std::get_if<workloads::Compute>(&op.work);
        sum += work != nullptr && work->attention ? work->flops : sim::Flops(0);
    }
    return sum.value();
}

}  // namespace

std::optional<Imbalance> imbalance_of(const TrainingStep& described,
                                      const workloads::StepPrograms& programs,
                                      const LoweredStep& step) {
    const std::size_t members = programs.members();
    if (members == 1) {
        return std::nullopt;
    }
    Imbalance imbalance;
    if (described.plan.experts.uneven()) {
        imbalance.experts = std::ranges::max(described.plan.experts.loads);
    }
    for (std::size_t stage = 0; stage < programs.stages; ++stage) {
        const std::size_t first = stage * members;
        imbalance.attention =
            std::max(imbalance.attention, most_over_mean(members, [&](std::size_t p) {
                         return attention_flops(programs.programs[first + p]);
                     }));
        imbalance.compute = std::max(imbalance.compute, most_over_mean(members, [&](std::size_t p) {
                                         return work_of(step.workload.graphs[first + p]).seconds();
                                     }));
    }
    return imbalance;
}

std::optional<Scenario> with_even_work(const Scenario& scenario) {
    const workloads::TrainingPlan& plan = scenario.step().plan;
    if (plan.attention.placement != workloads::Placement::plain && !plan.experts.uneven()) {
        return std::nullopt;
    }
    Scenario even = scenario;
    even.step().evaluation.reset();
    even.step().plan.attention.placement = workloads::Placement::zig_zag;
    even.step().plan.experts.loads.clear();
    return even;
}

std::string member_text(const workloads::StepPrograms& programs, const topology::DeviceMesh& mesh,
                        std::size_t program) {
    std::string text;
    std::size_t rest = program % programs.members();
    for (std::size_t axis = programs.axes.size(); axis-- > 1;) {
        const auto size = static_cast<std::size_t>(mesh.size(programs.axes[axis]));
        text = fmt::format("{} rank {}{}{}", programs.axes[axis], rest % size,
                           text.empty() ? "" : ", ", text);
        rest /= size;
    }
    return text;
}

}  // namespace podsim::scenarios
