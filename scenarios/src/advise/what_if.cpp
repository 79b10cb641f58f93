#include "scenarios/src/advise/what_if.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/machine_changes.h"
#include "scenarios/src/simulate/try_changes.h"

namespace podsim::scenarios {
namespace {

sim::Time perfect_overlap(const StepResult& result) {
    double busiest = 0;
    for (const LinkUse& link : result.links) {
        busiest = std::max(busiest, link.busiest_fraction);
    }
    return std::max(result.fullest_compute,
                    sim::round_up(sim::Seconds(busiest * result.step_time.seconds())));
}

bool uses(const StepResult& result, std::string_view links) {
    return std::ranges::any_of(result.links, [&](const LinkUse& link) {
        return link.name.starts_with(links) && link.bytes.value() > 0;
    });
}

/// A condition that is simulated.
struct Condition {
    std::size_t ceiling = 0;  ///< its index in the list
    std::function<void(Scenario&)> change;
};

void compute_nothing_twice(Scenario& scenario) {
    scenario.step().plan.remat.policy = workloads::RematPolicy::none;
    scenario.hardware.chip.hbm_capacity.value = sim::Bytes::infinity();
}

}  // namespace

std::vector<Ceiling> what_if(const Scenario& scenario, const StepResult& result, Fold fold,
                             const WhatIfOptions& options, int jobs, Watch* watch) {
    std::vector<Ceiling> ceilings_of;
    std::vector<Condition> conditions;
    const auto add = [&](std::string name, std::string meaning,
                         std::function<void(Scenario&)> change) {
        conditions.push_back({ceilings_of.size(), std::move(change)});
        ceilings_of.push_back({std::move(name), std::move(meaning), {}});
    };
    for (const MachineChange& change : ceilings()) {
        if (change.links.empty() || uses(result, change.links)) {
            add(change.name, change.meaning,
                [apply = change.apply](Scenario& changed) { apply(changed.hardware); });
        }
    }
    ceilings_of.push_back({"perfect overlap",
                           "the busier of the busiest compute stream and the busiest link",
                           perfect_overlap(result)});
    if (result.imbalance && result.imbalance->even_step) {
        ceilings_of.push_back(
            {"equal work", "every rank of an axis does the mean", *result.imbalance->even_step});
    }
    if (scenario.step().plan.remat.policy != workloads::RematPolicy::none) {
        add("no remat", "nothing is computed twice, whether or not it fits", compute_nothing_twice);
    }
    const auto run_all = [&](const IdealHardware* compiled_for) {
        const std::vector<Trial> trials = try_changes(conditions.size(),
                                                      [&](std::size_t i) {
                                                          Scenario changed = scenario;
                                                          conditions[i].change(changed);
                                                          return changed;
                                                      },
                                                      {.fold = fold,
                                                       .reuse = options.reuse,
                                                       .jobs = jobs,
                                                       .watch = watch,
                                                       .compiled_for = compiled_for});
        for (std::size_t i = 0; i < trials.size(); ++i) {
            sim::Time& time = ceilings_of[conditions[i].ceiling].step_time;
            time = time.ps == 0 ? trials[i].step->step_time
                                : std::min(time, trials[i].step->step_time);
        }
    };
    run_all(&scenario.hardware);
    if (options.reschedule &&
        scenario.step().plan.overlap.schedule != workloads::SchedulePolicy::chain) {
        run_all(nullptr);
    }
    return ceilings_of;
}

}  // namespace podsim::scenarios
