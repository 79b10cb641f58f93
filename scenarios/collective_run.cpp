#include <chrono>

#include "collectives/bounds.h"
#include "collectives/closed_form.h"
#include "collectives/group_graph.h"
#include "scenarios/limiting.h"
#include "scenarios/lowering.h"
#include "scenarios/simulate.h"

namespace podsim::scenarios {

namespace {

/// One collective on every group of the slice at once, and nothing else.
struct Lone {
    sim::Workload workload;
    int hops = 0;
    std::string served;
};

Lone lower(const CollectiveRequest& request, collectives::Algorithm algorithm,
           const collectives::ScheduleOptions& options, const Layout& layout) {
    const Hardware& hardware = request.hardware;
    collectives::ShiftTable shifts = layout.shifts();
    collectives::CollectiveSchedule built =
        request.members.across.length == 1
            ? collectives::build_schedule(request.operation, hardware.slice, request.members.group,
                                          algorithm, request.bytes, options, shifts, request.ends)
            : collectives::build_schedule(request.operation, hardware.slice, request.members.group,
                                          request.members.across, algorithm, request.bytes, options,
                                          shifts);
    Lone lone;
    lone.hops = built.hops;
    lone.served = std::move(built.served);
    sim::Workload& workload = lone.workload;
    workload.machine = build_machine(hardware, shifts);
    workload.schedules.push_back(std::move(built.schedule));
    workload.operations.push_back({});
    sim::Task task;
    task.operation = 0;
    task.duration = sim::round_up(hardware.chip.collective_launch.value);
    workload.graphs.push_back({{task}});
    workload.graph_of_place.assign(workload.machine.places, 0);
    return lone;
}

/// Where the collective is simulated; the fold depends on its ends.
Layout layout_of(const CollectiveRequest& request, Fold fold) {
    const Hardware& hardware = request.hardware;
    Layout layout = lay_out(hardware, fold, {request.members});
    if (request.members.across.length == 1) {
        layout.folded = collectives::folded_places(request.operation, hardware.slice,
                                                   request.members.group, request.ends);
        layout.places =
            fold == Fold::off ? topology::Places(hardware.slice, hardware.slices) : layout.folded;
    }
    return layout;
}

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
    const sim::Time bound{static_cast<std::int64_t>(result.physical_bound.value() * 1e12)};
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

CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = request.hardware;
    const bool within = request.members.across.length == 1;
    const Layout layout = layout_of(request, fold);
    const sim::BytesPerSecond rate = hardware.chip.ici_one_way(hardware.ici_rates);

    CollectiveResult result;
    const collectives::Group& group = request.members.group;
    result.algorithm =
        within ? collectives::resolve(request.operation, request.algorithm, hardware.slice, group)
               : collectives::resolve_between_slices(request.operation, request.algorithm,
                                                     hardware.slice, group);
    const collectives::ScheduleOptions options{
        .message_cap = hardware.message_cap,
        .hop_bytes = sim::Bytes(rate.value() * hardware.chip.ici_latency.value.value())};
    Lone lone = lower(request, result.algorithm, options, layout);
    result.hops = lone.hops;
    result.served = lone.served;

    const sim::ExecutionResult run = sim::execute(lone.workload);
    result.simulated = run.end;
    result.events = run.events;
    result.simulated_chips = layout.places.size();
    result.links = link_use(hardware, layout, run);
    result.limiting = limiting_links(hardware, layout, run);
    const sim::Seconds hop = hardware.chip.ici_latency.value;
    std::optional<sim::Time> exact;
    if (within) {
        result.physical_bound = collectives::physical_bound(
            request.operation, hardware.slice, group, request.bytes, rate, request.ends);
        result.book = collectives::book_time(request.operation, hardware.slice, group,
                                             request.bytes, rate, hop, request.ends);
        exact = collectives::closed_form(
            request.operation, hardware.slice, group, result.algorithm, request.bytes, options,
            {.rate = rate, .latency = hop, .rule = hardware.latency}, request.ends);
    } else {
        const collectives::SliceLinks links = slice_links(hardware);
        result.physical_bound = collectives::physical_bound(
            request.operation, hardware.slice, request.members, request.bytes, rate, links);
        result.book = collectives::book_time(request.operation, hardware.slice, request.members,
                                             request.bytes, rate, hop, links);
    }
    if (exact) {
        result.analytic = sim::Seconds(exact->seconds());
    }
    if (fold == Fold::off) {
        lone = lower(request, result.algorithm, options, layout_of(request, Fold::automatic));
    }
    account(result, sim::round_up(hardware.chip.collective_launch.value),
            run_without_delays(std::move(lone.workload)));
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
