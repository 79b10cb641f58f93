#include <chrono>

#include "collectives/bounds.h"
#include "collectives/closed_form.h"
#include "scenarios/lowering.h"
#include "scenarios/simulate.h"

namespace podsim::scenarios {

CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold) {
    const auto begun = std::chrono::steady_clock::now();
    const Hardware& hardware = request.hardware;
    const std::vector<collectives::Group> groups{request.group};
    const topology::Lattice folded = simulated_places(hardware.slice, Fold::automatic, groups);
    const topology::Lattice places = fold == Fold::off ? hardware.slice : folded;
    const sim::BytesPerSecond rate = hardware.chip.ici_one_way(hardware.ici_rates);

    CollectiveResult result;
    result.algorithm =
        collectives::resolve(request.operation, request.algorithm, hardware.slice, request.group);
    collectives::ShiftTable shifts(places);
    const collectives::ScheduleOptions options{.message_cap = hardware.message_cap};
    collectives::CollectiveSchedule built =
        collectives::build_schedule(request.operation, hardware.slice, request.group,
                                    result.algorithm, request.bytes, options, shifts);
    result.hops = built.hops;

    sim::Workload workload;
    workload.machine = build_machine(hardware, shifts);
    workload.schedules.push_back(std::move(built.schedule));
    workload.operations.push_back({});
    sim::Task task;
    task.operation = 0;
    task.duration = sim::round_up(hardware.chip.collective_launch.value);
    workload.graphs.push_back({{task}});
    workload.graph_of_place.assign(workload.machine.places, 0);

    const sim::ExecutionResult run = sim::execute(workload);
    result.simulated = run.end;
    result.events = run.events;
    result.simulated_chips = places.size();
    result.links = link_use(hardware, places, folded, run);
    result.physical_bound = collectives::physical_bound(request.operation, hardware.slice,
                                                        request.group, request.bytes, rate);
    result.book = collectives::book_time(request.operation, hardware.slice, request.group,
                                         request.bytes, rate, hardware.chip.ici_latency.value);
    const std::optional<sim::Time> exact = collectives::closed_form(
        request.operation, hardware.slice, request.group, result.algorithm, request.bytes, options,
        {.rate = rate, .latency = hardware.chip.ici_latency.value, .rule = hardware.latency});
    if (exact) {
        result.analytic = sim::Seconds(exact->seconds());
    }
    result.wall_time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return result;
}

}  // namespace podsim::scenarios
