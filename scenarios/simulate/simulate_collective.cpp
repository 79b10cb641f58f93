#include <chrono>
#include <utility>

#include "collectives/catalogue/bounds.h"
#include "collectives/catalogue/closed_form.h"
#include "scenarios/explain/limiting_links.h"
#include "scenarios/lower/lower_collective.h"
#include "scenarios/run/run_watch.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

namespace {

/// The same without launch cost and latency.
sim::ExecutionResult run_without_delays(sim::Workload workload) {
    for (sim::LinkSpec& link : workload.machine.links) {
        link.latency = {};
    }
    workload.graphs[0].tasks[0].duration = {};
    return sim::execute(workload);
}

void account(CollectiveResult& result, sim::Time launch, const sim::ExecutionResult& undelayed) {
    result.parts = {launch, result.simulated - launch - undelayed.end, undelayed.end};
    const sim::Time bound = sim::round_down(result.physical_bound);
    const sim::Time busiest = busiest_time(undelayed);
    result.gap = {{"launch", launch},
                  {"latency", result.parts.latency},
                  {"uneven load", busiest - bound},
                  {"idle", undelayed.end - busiest}};
}

}  // namespace

std::string_view to_string(Regime regime) {
    switch (regime) {
        case Regime::latency_bound:
            return "latency-bound";
        case Regime::between:
            return "in between";
        case Regime::bandwidth_bound:
            return "bandwidth-bound";
    }
    return "unknown";
}

Regime CollectiveResult::regime() const {
    const std::int64_t fixed = parts.launch.ps + parts.latency.ps;
    return fixed >= simulated.ps / 2   ? Regime::latency_bound
           : fixed < simulated.ps / 10 ? Regime::bandwidth_bound
                                       : Regime::between;
}

CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold, RunWatch* watch) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = request.hardware;
    const bool within = request.members.across.length == 1;
    const Layout layout = layout_of(request, fold);
    const sim::BytesPerSecond rate = hardware.chip.ici_one_way(hardware.ici_rates);

    CollectiveResult result;
    Picked picked = pick_algorithm(request);
    result.algorithm = picked.algorithm;
    const bool has_run = picked.lone && fold == Fold::automatic;
    Lone lone = has_run ? std::move(*picked.lone) : lower_lone(request, result.algorithm, layout);
    result.hops = lone.hops;
    result.served = lone.served;

    WatchedRun watched(watch);
    const sim::ExecutionResult run =
        has_run ? std::move(picked.run) : sim::execute(lone.workload, &watched);
    result.simulated = run.end;
    result.events = run.events;
    result.simulated_chips = layout.places.size();
    result.links = link_use(hardware, layout, run);
    result.limiting = limiting_links(hardware, layout, run);
    const collectives::SliceLinks links = slice_links(hardware);
    result.physical_bound =
        collectives::physical_bound(request.operation, hardware.slice, request.members,
                                    request.bytes, rate, links, request.ends);
    result.book =
        collectives::book_time(request.operation, hardware.slice, request.members, request.bytes,
                               rate, hardware.chip.ici_latency.value, links, request.ends);
    std::optional<sim::Time> exact;
    if (within && hardware.perturbations.empty()) {
        exact = collectives::closed_form(
            request.operation, hardware.slice, request.members.group, result.algorithm,
            request.bytes, schedule_options(hardware, layout), link_model(hardware), request.ends);
    }
    if (exact) {
        result.analytic = sim::Seconds(exact->seconds());
    }
    if (fold == Fold::off) {
        lone = lower_lone(request, result.algorithm, layout_of(request, Fold::automatic));
    }
    account(result, sim::round_up(hardware.chip.collective_launch.value),
            run_without_delays(std::move(lone.workload)));
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
