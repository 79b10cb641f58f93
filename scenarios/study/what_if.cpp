#include "scenarios/study/what_if.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string_view>

#include "scenarios/simulate/step_memory.h"
#include "scenarios/spec/training_step.h"

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

/// One thing that costs nothing.
struct Condition {
    const char* name;
    const char* meaning;
    const char*
        links;  ///< it is about links of this class, and left out where a step does not use them
    void (*change)(Scenario&);
};

constexpr sim::BytesPerSecond kNoTime = sim::BytesPerSecond::infinity();
constexpr sim::FlopsPerSecond kNoWork = sim::FlopsPerSecond::infinity();

constexpr Condition kConditions[] = {
    {"ici=inf", "links between chips, and the HBM at their ends, take no time but latency", "ici",
     [](Scenario& s) {
         s.hardware.chip.ici_one_way_book.value = kNoTime;
         s.hardware.chip.ici_one_way_vendor.value = kNoTime;
     }},
    {"dcn=inf", "the data-centre network, and the HBM at its ends, take no time but latency", "dcn",
     [](Scenario& s) { s.hardware.chip.dcn_per_host.value = kNoTime; }},
    {"pcie=inf", "PCIe, and the HBM at its ends, take no time but latency", "pcie",
     [](Scenario& s) { s.hardware.chip.pcie_one_way.value = kNoTime; }},
    {"hbm=inf", "no operation waits for HBM", "",
     [](Scenario& s) { s.hardware.chip.hbm_bandwidth.value = kNoTime; }},
    {"mxu=inf", "matmuls take no time but HBM's", "",
     [](Scenario& s) {
         s.hardware.chip.bf16_flops.value = kNoWork;
         s.hardware.chip.int8_ops.value = kNoWork;
         s.hardware.chip.fp8_flops.value = kNoWork;
     }},
    {"latency=0", "no link has latency", "",
     [](Scenario& s) {
         topology::ChipSpec& chip = s.hardware.chip;
         for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
             latency->value = sim::Seconds(0);
         }
     }},
};

constexpr Condition kNoRemat{"no remat", "nothing is computed twice, whether or not it fits", "",
                             [](Scenario& s) {
                                 s.step().plan.remat.policy = workloads::RematPolicy::none;
                                 s.hardware.chip.hbm_capacity.value = sim::Bytes::infinity();
                             }};

bool uses(const StepResult& result, std::string_view links) {
    return std::ranges::any_of(result.links, [&](const LinkUse& link) {
        return link.name.starts_with(links) && link.bytes.value() > 0;
    });
}

/// A ceiling whose run is still to come.
struct Run {
    std::size_t ceiling = 0;  ///< its place in the list
    void (*change)(Scenario&) = nullptr;
};

struct Finding {
    sim::Time step_time;
    std::exception_ptr error{};
};

Finding run_under(const Run& run, const Scenario& scenario, Fold fold, const WhatIfOptions& options,
                  Watch* watch, StepMemory& memory) {
    try {
        Scenario changed = scenario;
        run.change(changed);
        const StepOptions of_step{.reuse = options.reuse,
                                  .explain = false,
                                  .compiled_for = options.reschedule ? nullptr : &scenario.hardware,
                                  .watch = watch,
                                  .memory = &memory};
        const sim::Time step_time = simulate_step(changed, fold, of_step).step_time;
        if (!options.reschedule ||
            changed.step().plan.overlap.schedule == workloads::SchedulePolicy::chain) {
            return {step_time};
        }
        StepOptions as_before = of_step;
        as_before.compiled_for = &scenario.hardware;
        return {std::min(step_time, simulate_step(changed, fold, as_before).step_time)};
    } catch (...) {
        return {.step_time = {}, .error = std::current_exception()};
    }
}

}  // namespace

std::vector<Ceiling> what_if(const Scenario& scenario, const StepResult& result, Fold fold,
                             const WhatIfOptions& options, int jobs, Watch* watch) {
    std::vector<Ceiling> ceilings;
    std::vector<Run> runs;
    const auto add = [&](const Condition& condition) {
        runs.push_back({ceilings.size(), condition.change});
        ceilings.push_back({condition.name, condition.meaning, {}});
    };
    for (const Condition& condition : kConditions) {
        const std::string_view links = condition.links;
        if (links.empty() || uses(result, links)) {
            add(condition);
        }
    }
    ceilings.push_back({"perfect overlap",
                        "the busier of the busiest compute stream and the busiest link",
                        perfect_overlap(result)});
    if (result.imbalance && result.imbalance->even_step) {
        ceilings.push_back(
            {"equal work", "every rank of an axis does the mean", *result.imbalance->even_step});
    }
    if (scenario.step().plan.remat.policy != workloads::RematPolicy::none) {
        add(kNoRemat);
    }
    PhaseWatch explaining(watch, Phase::explaining);
    StepMemory memory;
    run_in_order(
        0, runs.size(), fold == Fold::off ? 1 : jobs,
        [&](std::size_t i) {
            return run_under(runs[i], scenario, fold, options, &explaining, memory);
        },
        [&](std::size_t i, const Finding& outcome) {
            if (outcome.error) {
                std::rethrow_exception(outcome.error);
            }
            ceilings[runs[i].ceiling].step_time = outcome.step_time;
        },
        [] { return false; });
    return ceilings;
}

}  // namespace podsim::scenarios
