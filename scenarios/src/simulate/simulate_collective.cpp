#include <optional>
#include <utility>

#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/closed_form.h"
#include "scenarios/src/simulate/hbm_use.h"
#include "scenarios/src/simulate/limiting_links.h"
#include "scenarios/src/simulate/lower_collective.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

namespace {

/// Runs the workload without launch cost and latency.
sim::ExecutionResult run_without_delays(sim::Workload workload, Watch* watch) {
    for (sim::LinkSpec& link : workload.machine.links) {
        link.latency = {};
    }
    workload.graphs[0].tasks[0].duration = {};
    PhaseWatch explaining(watch, Phase::explaining);
    WatchedRun watched(&explaining);
    return sim::execute(workload, &watched);
}

/// Returns the busy time of the busiest link on a machine whose links reach their rates.
sim::Time busiest_at_full_rate(const CollectiveRequest& request, const CollectiveResult& result,
                               Watch* watch) {
    IdealHardware full = request.hardware;
    full.efficiency = {};
    const AchievedHardware hardware(full);
    const StageCollective collective = request.collective();
    const Layout layout = layout_of(hardware, collective, Fold::automatic);
    Lone lone = lower_lone(hardware, collective, result.algorithm, layout);
    lone.workload.machine.memory_rate = 0;
    return busiest_time(run_without_delays(std::move(lone.workload), watch));
}

void account(const CollectiveRequest& request, sim::Time launch, sim::Workload workload,
             Watch* watch, CollectiveResult& result) {
    sim::ExecutionResult undelayed = run_without_delays(workload, watch);
    result.parts = {launch, result.simulated - launch - undelayed.end, undelayed.end};
    sim::Time memory;
    if (std::exchange(workload.machine.memory_rate, 0) != 0) {
        sim::ExecutionResult unshared = run_without_delays(std::move(workload), watch);
        memory = undelayed.end - unshared.end;
        undelayed = std::move(unshared);
    }
    const sim::Time bound = sim::round_down(result.physical_bound);
    const sim::Time busiest = busiest_time(undelayed);
    const topology::Efficiency& reached = request.hardware.efficiency;
    const bool below = reached.ici != 1 || reached.dcn != 1;
    const sim::Time at_full_rate = below ? busiest_at_full_rate(request, result, watch) : busiest;
    result.gap = {{"launch", launch},
                  {"latency", result.parts.latency},
                  {"uneven load", at_full_rate - bound},
                  {"idle", undelayed.end - busiest}};
    if (below) {
        result.gap.push_back({"links below their rate", busiest - at_full_rate});
    }
    if (memory.ps != 0) {
        result.gap.push_back({"HBM", memory});
    }
}

/// Estimates for the ideal machine, whatever the profile reaches.
void estimate(const CollectiveRequest& request, CollectiveResult& result) {
    const IdealHardware& hardware = request.hardware;
    const sim::BytesPerSecond rate = hardware.chip.ici_one_way(hardware.ici_rates);
    const collectives::SliceLinks links = slice_links(hardware);
    const collectives::CollectiveCall call = request.collective().call(hardware.slice);
    result.physical_bound = collectives::physical_bound(call, rate, links);
    result.book = collectives::book_time(call, rate, hardware.chip.ici_latency.value, links);
}

/// Returns the algorithm's exact time, if it is known: within slices without perturbations.
std::optional<sim::Seconds> exact_time(const AchievedHardware& hardware,
                                       const StageCollective& collective,
                                       collectives::Algorithm algorithm, const Layout& layout) {
    if (!hardware.perturbations.empty()) {
        return std::nullopt;
    }
    collectives::CollectiveCall call = collective.call(hardware.slice);
    call.algorithm = algorithm;
    const std::optional<sim::Time> exact =
        collectives::closed_form(call, schedule_options(hardware, layout), link_model(hardware));
    return exact ? std::optional(sim::Seconds(exact->seconds())) : std::nullopt;
}

}  // namespace

CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold, Watch* watch) {
    tell(watch, Phase::building);
    const AchievedHardware hardware(request.hardware);
    const StageCollective collective = request.collective();
    const Layout layout = layout_of(hardware, collective, fold);

    CollectiveResult result;
    Picked picked = pick_algorithm(hardware, collective, watch);
    result.algorithm = picked.algorithm;
    const bool has_run = picked.lone && fold == Fold::automatic && memory_rate(hardware) == 0;
    Lone lone = has_run ? std::move(*picked.lone)
                        : lower_lone(hardware, collective, result.algorithm, layout);
    result.hops = lone.hops;
    result.served = lone.served;

    const RunMemory memory = memory_of_run(lone.workload);
    refuse_beyond_memory(memory, fold);
    tell_begins(watch, memory.bytes());
    WatchedRun watched(watch);
    const sim::ExecutionResult run =
        has_run ? std::move(picked.run) : sim::execute(lone.workload, &watched);
    result.simulated = run.end;
    result.events = run.events;
    result.simulated_chips = static_cast<int>(layout.simulated());
    result.links = link_use(hardware, layout, run);
    if (lone.workload.machine.memory_rate != 0) {
        result.links.push_back(hbm_use(lone.workload, std::vector{sim::Bytes(0)}, layout, run.end));
    }
    result.limiting = limiting_links(hardware, layout, run);
    estimate(request, result);
    result.analytic = exact_time(hardware, collective, result.algorithm, layout);
    if (fold == Fold::off) {
        lone = lower_lone(hardware, collective, result.algorithm,
                          layout_of(hardware, collective, Fold::automatic));
    }
    account(request, sim::round_up(hardware.chip.collective_launch.value), std::move(lone.workload),
            watch, result);
    return result;
}

std::size_t count_messages(const CollectiveRequest& request, Fold fold, Watch* watch) {
    const AchievedHardware hardware(request.hardware);
    const StageCollective collective = request.collective();
    const collectives::Algorithm algorithm = pick_algorithm(hardware, collective, watch).algorithm;
    const Lone lone =
        lower_lone(hardware, collective, algorithm, layout_of(hardware, collective, fold));
    return lone.workload.schedules[0].transfers.size();
}

}  // namespace podsim::scenarios
