#include "scenarios/src/simulate/lower_collective.h"

#include <algorithm>
#include <utility>

#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/choose_algorithm.h"
#include "collectives/catalogue/operations.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"

namespace podsim::scenarios {
namespace {

/// True if the collective's members are not alike.
bool has_ends(const StageCollective& collective) {
    return collectives::info(collective.operation).ends != collectives::EndsTaken::none;
}

}  // namespace

Layout layout_of(const AchievedHardware& hardware, const StageCollective& collective, Fold fold) {
    Layout layout = lay_out(hardware, fold, {collective.members});
    if (has_ends(collective)) {
        const topology::Places whole(hardware.slice, hardware.slices);
        layout.folded = hardware.perturbations.empty()
                            ? collectives::folded_places(collective.call(hardware.slice))
                            : whole;
        layout.places = fold == Fold::off ? whole : layout.folded;
    }
    return layout;
}

Lone lower_lone(const AchievedHardware& hardware, const StageCollective& collective,
                collectives::Algorithm algorithm, const Layout& layout) {
    Lone lone{.workload = {}, .hops = 0, .served = {}, .shifts = layout.shifts()};
    collectives::CollectiveCall call = collective.call(hardware.slice);
    call.algorithm = algorithm;
    collectives::CollectiveSchedule built =
        collectives::build_schedule(call, schedule_options(hardware, layout), lone.shifts);
    lone.hops = built.hops;
    lone.served = std::move(built.served);
    sim::Workload& workload = lone.workload;
    workload.machine = build_machine(hardware, lone.shifts, lone.shifts.uses_hosts());
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

/// Slow links do not change the choice; with dead links only rings and lines remain.
collectives::Algorithm pick_on_sound_machine(const AchievedHardware& hardware,
                                             const StageCollective& collective, Watch* watch) {
    AchievedHardware sound = hardware;
    sound.perturbations.clear();
    const bool dead = std::ranges::any_of(hardware.perturbations, [](const Perturbation& one) {
        return one.kind == Perturbation::Kind::dead_link;
    });
    return dead ? collective.algorithm : pick_algorithm(sound, collective, watch).algorithm;
}

}  // namespace

Picked pick_algorithm(const AchievedHardware& hardware, const StageCollective& collective,
                      Watch* watch) {
    if (!hardware.perturbations.empty()) {
        return {pick_on_sound_machine(hardware, collective, watch)};
    }
    const collectives::CollectiveCall call = collective.call(hardware.slice);
    if (call.members.span_slices() || has_ends(collective) ||
        call.algorithm != collectives::Algorithm::automatic) {
        return {collectives::resolve(call)};
    }
    const Layout layout = layout_of(hardware, collective, Fold::automatic);
    const sim::Time launch = sim::round_up(hardware.chip.collective_launch.value);
    PhaseWatch choosing(watch, Phase::choosing_algorithms);
    WatchedRun watched(&choosing);
    tell(&choosing, Phase::choosing_algorithms);
    Picked fastest;
    const auto simulate = [&](collectives::Algorithm algorithm) {
        Lone lone = lower_lone(hardware, collective, algorithm, layout);
        lone.workload.machine.memory_rate = 0;
        refuse_beyond_memory(memory_of_run(lone.workload), Fold::automatic);
        sim::ExecutionResult run = sim::execute(lone.workload, &watched);
        const sim::Time time = run.end - launch;
        if (!fastest.lone || run.end < fastest.run.end) {
            fastest = {algorithm, std::move(lone), std::move(run)};
        }
        return time;
    };
    const collectives::Algorithm chosen = collectives::choose(
        call, schedule_options(hardware, layout), link_model(hardware), simulate);
    // Among equals, the chosen algorithm may be another than the first that ran.
    return fastest.algorithm == chosen ? std::move(fastest) : Picked{chosen};
}

}  // namespace podsim::scenarios
