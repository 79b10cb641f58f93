#include "scenarios/lower/lower_collective.h"

#include <algorithm>
#include <utility>

#include "collectives/catalogue/choose_algorithm.h"
#include "collectives/paths/group_graph.h"

namespace podsim::scenarios {

Layout layout_of(const CollectiveRequest& request, Fold fold) {
    const Hardware& hardware = request.hardware;
    Layout layout = lay_out(hardware, fold, {request.members});
    if (request.operation > collectives::Operation::all_to_all) {
        const topology::Places whole(hardware.slice, hardware.slices);
        layout.folded = hardware.perturbations.empty()
                            ? collectives::folded_places(request.operation, hardware.slice,
                                                         request.members.group, request.ends)
                            : whole;
        layout.places = fold == Fold::off ? whole : layout.folded;
    }
    return layout;
}

Lone lower_lone(const CollectiveRequest& request, collectives::Algorithm algorithm,
                const Layout& layout) {
    const Hardware& hardware = request.hardware;
    collectives::ShiftTable shifts = layout.shifts();
    collectives::CollectiveSchedule built = collectives::build_schedule(
        request.operation, hardware.slice, request.members.group, request.members.across, algorithm,
        request.bytes, schedule_options(hardware, layout), shifts, request.ends);
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

namespace {

/// Slow links do not change the choice; dead ones leave only rings and lines.
collectives::Algorithm pick_on_sound_machine(const CollectiveRequest& request) {
    CollectiveRequest sound = request;
    sound.hardware.perturbations.clear();
    const bool dead = std::ranges::any_of(
        request.hardware.perturbations,
        [](const Perturbation& one) { return one.kind == Perturbation::Kind::dead_link; });
    return dead ? request.algorithm : pick_algorithm(sound).algorithm;
}

}  // namespace

Picked pick_algorithm(const CollectiveRequest& request) {
    const Hardware& hardware = request.hardware;
    const collectives::Group& group = request.members.group;
    if (!hardware.perturbations.empty()) {
        return {pick_on_sound_machine(request)};
    }
    if (request.members.across.length > 1) {
        return {collectives::resolve_between_slices(request.operation, request.algorithm,
                                                    hardware.slice, group)};
    }
    if (request.algorithm != collectives::Algorithm::automatic ||
        request.operation > collectives::Operation::all_to_all) {
        return {collectives::resolve(request.operation, request.algorithm, hardware.slice, group)};
    }
    const Layout layout = layout_of(request, Fold::automatic);
    const sim::Time launch = sim::round_up(hardware.chip.collective_launch.value);
    Picked fastest;
    const auto simulate = [&](collectives::Algorithm algorithm) {
        Lone lone = lower_lone(request, algorithm, layout);
        sim::ExecutionResult run = sim::execute(lone.workload);
        const sim::Time time = run.end - launch;
        if (!fastest.lone || run.end < fastest.run.end) {
            fastest = {algorithm, std::move(lone), std::move(run)};
        }
        return time;
    };
    const collectives::Algorithm chosen =
        collectives::choose(request.operation, hardware.slice, group, request.bytes,
                            schedule_options(hardware, layout), link_model(hardware), simulate);
    // Of equals another may be chosen than the first to run.
    return fastest.algorithm == chosen ? std::move(fastest) : Picked{chosen};
}

}  // namespace podsim::scenarios
