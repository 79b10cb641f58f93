#include "scenarios/study/order_noise.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <iterator>
#include <vector>

#include "scenarios/simulate/step_memory.h"
#include "scenarios/text/format.h"
#include "scenarios/watch/run_limit.h"

namespace podsim::scenarios {
namespace {

/// Each thing takes so many times as long.
constexpr double kLonger[] = {1.01, 1 / 1.1};
constexpr const char* kChanges[] = {"1 % slower", "10 % faster"};

struct Thing {
    const char* name;
    const char* links;  ///< as LinkUse names them; left out where a step does not use them
    void (*change)(topology::ChipSpec&, double longer);
};

template <class... Rates>
void divide(double by, Rates&... rates) {
    ((rates.value = rates.value / by), ...);
}

constexpr Thing kThings[] = {
    {"compute", "",
     [](topology::ChipSpec& chip, double longer) {
         divide(longer, chip.bf16_flops, chip.int8_ops, chip.fp8_flops, chip.vpu_flops);
     }},
    {"HBM", "",
     [](topology::ChipSpec& chip, double longer) { divide(longer, chip.hbm_bandwidth); }},
    {"ICI", "ici",
     [](topology::ChipSpec& chip, double longer) {
         divide(longer, chip.ici_one_way_book, chip.ici_one_way_vendor);
     }},
    {"PCIe", "pcie",
     [](topology::ChipSpec& chip, double longer) { divide(longer, chip.pcie_one_way); }},
    {"DCN", "dcn",
     [](topology::ChipSpec& chip, double longer) { divide(longer, chip.dcn_per_host); }},
    {"latency", "ici",
     [](topology::ChipSpec& chip, double longer) {
         for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
             latency->value = latency->value * longer;
         }
     }},
};

struct ChangedRun {
    sim::Time step_time;
    std::exception_ptr error{};
    bool exceeded = false;  ///< its limit
};

ChangedRun run_changed(const Thing& thing, double longer, const Scenario& scenario, bool reuse,
                       RunLimit& limit, StepMemory& memory) {
    try {
        Scenario changed = scenario;
        thing.change(changed.hardware.chip, longer);
        return {
            simulate_step(changed, Fold::automatic,
                          {.reuse = reuse, .explain = false, .watch = &limit, .memory = &memory})
                .step_time};
    } catch (...) {
        return limit.exceeded() ? ChangedRun{.step_time = {}, .exceeded = true}
                                : ChangedRun{.step_time = {}, .error = std::current_exception()};
    }
}

}  // namespace

std::optional<OrderNoise> order_noise(const Scenario& scenario, const StepResult& result,
                                      bool reuse, int jobs, Watch* watch) {
    if (result.played_events > kMostEventsOfOrderNoise) {
        return std::nullopt;
    }
    std::vector<Thing> things;
    std::ranges::copy_if(kThings, std::back_inserter(things), [&](const Thing& thing) {
        return *thing.links == '\0' || std::ranges::any_of(result.links, [&](const LinkUse& use) {
            return use.name.starts_with(thing.links) && use.bytes.value() > 0;
        });
    });
    OrderNoise noise;
    StepMemory memory;
    const double step = result.step_time.seconds();
    PhaseWatch explaining(watch, Phase::explaining);
    const std::uint64_t most_played = most_played_to_explain(result.played_events);
    bool known = true;
    constexpr std::size_t kRuns = std::size(kLonger);
    run_in_order(
        0, kRuns * things.size(), jobs,
        [&](std::size_t i) {
            RunLimit limit(explaining, RunLimit::kNone, most_played);
            return run_changed(things[i / kRuns], kLonger[i % kRuns], scenario, reuse, limit,
                               memory);
        },
        [&](std::size_t i, const ChangedRun& outcome) {
            if (outcome.error) {
                std::rethrow_exception(outcome.error);
            }
            known = known && !outcome.exceeded;
            const double changed = outcome.step_time.seconds() / step;
            const double longer = kLonger[i % kRuns];
            const double outside =
                std::max(std::min(longer, 1.0) - changed, changed - std::max(longer, 1.0));
            if (outside > noise.share) {
                noise = {outside, fmt::format("{} {}", kChanges[i % kRuns], things[i / kRuns].name),
                         outcome.step_time};
            }
        },
        [&] { return !known; });
    return known ? std::optional(noise) : std::nullopt;
}

std::string order_noise_text(const std::optional<OrderNoise>& noise, const StepResult& result) {
    if (!noise.has_value() || noise->share < kOrderNoiseToTell) {
        return {};
    }
    const double change = noise->step_time.seconds() / result.step_time.seconds() - 1;
    return fmt::format(
        "Order: with {} the step takes {}, {:.1f} % {}, since operations and messages "
        "then meet in another order; differences below {:.1f} % are noise\n",
        noise->with, format_time(noise->step_time.seconds()), 100 * std::abs(change),
        change < 0 ? "less" : "more", 100 * noise->share);
}

Json order_noise_json(const OrderNoise& noise) {
    Json json = {{"fraction", noise.share}};
    if (!noise.with.empty()) {
        json["with"] = noise.with;
        json["step_time_s"] = decimal_seconds(noise.step_time);
    }
    return json;
}

}  // namespace podsim::scenarios
