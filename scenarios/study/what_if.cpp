#include "scenarios/study/what_if.h"

#include <algorithm>
#include <cstddef>
#include <exception>

namespace podsim::scenarios {
namespace {

sim::Time perfect_overlap(const StepResult& result) {
    double busiest = 0;
    for (const LinkUse& link : result.links) {
        busiest = std::max(busiest, link.busiest_fraction);
    }
    return std::max(result.compute,
                    sim::round_up(sim::Seconds(busiest * result.step_time.seconds())));
}

/// A ceiling whose run is still to come.
struct Condition {
    std::size_t ceiling = 0;  ///< its place in the list
    void (*change)(Scenario&) = nullptr;
};

struct Outcome {
    sim::Time step_time;
    std::exception_ptr error{};
};

Outcome run_under(const Condition& condition, Scenario scenario, Fold fold, bool reuse) {
    try {
        condition.change(scenario);
        return {simulate_step(scenario, fold, {.reuse = reuse, .explain = false}).step_time};
    } catch (...) {
        return {.step_time = {}, .error = std::current_exception()};
    }
}

}  // namespace

std::vector<Ceiling> what_if(const Scenario& scenario, const StepResult& result, Fold fold,
                             bool reuse, int jobs) {
    std::vector<Ceiling> ceilings;
    std::vector<Condition> conditions;
    const auto add = [&](const char* name, const char* meaning, void (*change)(Scenario&)) {
        conditions.push_back({ceilings.size(), change});
        ceilings.push_back({name, meaning, {}});
    };
    const auto used = [&](const char* prefix) {
        return std::ranges::any_of(result.links, [&](const LinkUse& link) {
            return link.name.starts_with(prefix) && link.bytes.value() > 0;
        });
    };
    using topology::ChipSpec;
    if (used("ici")) {
        add("ici=inf", "links between chips take no time but latency", [](Scenario& s) {
            s.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
            s.hardware.chip.ici_one_way_vendor.value = sim::BytesPerSecond::infinity();
        });
    }
    if (used("dcn")) {
        add("dcn=inf", "the data-centre network takes no time but latency", [](Scenario& s) {
            s.hardware.chip.dcn_per_host.value = sim::BytesPerSecond::infinity();
        });
    }
    if (used("pcie")) {
        add("pcie=inf", "PCIe takes no time but latency", [](Scenario& s) {
            s.hardware.chip.pcie_one_way.value = sim::BytesPerSecond::infinity();
        });
    }
    add("hbm=inf", "no operation waits for HBM",
        [](Scenario& s) { s.hardware.chip.hbm_bandwidth.value = sim::BytesPerSecond::infinity(); });
    add("mxu=inf", "matmuls take no time but HBM's", [](Scenario& s) {
        s.hardware.chip.bf16_flops.value = sim::FlopsPerSecond::infinity();
        s.hardware.chip.int8_ops.value = sim::FlopsPerSecond::infinity();
    });
    add("latency=0", "no link has latency", [](Scenario& s) {
        ChipSpec& chip = s.hardware.chip;
        for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
            latency->value = sim::Seconds(0);
        }
    });
    ceilings.push_back({"perfect overlap", "the busier of the compute stream and the busiest link",
                        perfect_overlap(result)});
    if (result.imbalance && result.imbalance->even_step) {
        ceilings.push_back(
            {"equal work", "every rank of an axis does the mean", *result.imbalance->even_step});
    }
    if (scenario.plan.remat.policy != workloads::RematPolicy::none) {
        add("no remat", "nothing is computed twice, whether or not it fits", [](Scenario& s) {
            s.plan.remat.policy = workloads::RematPolicy::none;
            s.hardware.chip.hbm_capacity.value = sim::Bytes::infinity();
        });
    }
    run_in_order(
        0, conditions.size(), fold == Fold::off ? 1 : jobs,
        [&](std::size_t i) { return run_under(conditions[i], scenario, fold, reuse); },
        [&](std::size_t i, const Outcome& outcome) {
            if (outcome.error) {
                std::rethrow_exception(outcome.error);
            }
            ceilings[conditions[i].ceiling].step_time = outcome.step_time;
        },
        [] { return false; });
    return ceilings;
}

}  // namespace podsim::scenarios
