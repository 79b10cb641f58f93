#include "scenarios/src/simulate/estimate_step.h"

#include <cmath>
#include <map>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_program.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "sim/base/error.h"
#include "workloads/bounds/book_inference.h"
#include "workloads/program/memory_peak.h"

namespace podsim::scenarios {
namespace {

/// Hops of an operation, by role.
std::vector<std::uint64_t> hops_of_roles(const sim::Schedule& schedule) {
    std::vector<std::uint64_t> hops;
    for (const sim::Role& role : schedule.roles) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const sim::Transfer& transfer = schedule.transfers[role.first_transfer + i];
            sum += std::uint64_t{transfer.hop_count} * transfer.copies;
        }
        hops.push_back(sum);
    }
    return hops;
}

/// Counts events as the executor does: each task at every place, and each hop of a transfer at
/// every place that takes part.
std::uint64_t events_of(const sim::Workload& workload) {
    std::uint64_t events = 0;
    for (const std::uint32_t graph : workload.graph_of_place) {
        events += workload.graphs[graph].tasks.size();
    }
    std::vector<std::vector<std::uint64_t>> hops;
    for (const sim::Schedule& schedule : workload.schedules) {
        hops.push_back(hops_of_roles(schedule));
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_use;
    for (const sim::OperationSpec& operation : workload.operations) {
        const auto [known, is_new] =
            of_use.try_emplace({operation.schedule, operation.placement}, 0);
        const std::vector<std::uint32_t>& roles =
            operation.placement == sim::kOwnPlacement
                ? workload.schedules[operation.schedule].role_of_place
                : workload.placements[operation.placement];
        for (std::size_t place = 0; is_new && place < roles.size(); ++place) {
            known->second +=
                roles[place] == sim::kAbsent ? 0 : hops[operation.schedule][roles[place]];
        }
        events += known->second;
    }
    return events;
}

}  // namespace

StepBounds bounds_of(const Scenario& scenario, const BuiltStep& built) {
    const TrainingStep& step = scenario.step();
    const workloads::MachineRates rates = ideal_rates(scenario.hardware);
    const topology::Lattice& slice = scenario.hardware.slice;
    StepBounds bounds;
    bounds.lower = workloads::roofline_lower(built.programs, slice, step.mesh, rates);
    bounds.serial = workloads::roofline_serial(built.programs, slice, step.mesh, rates);
    if (built.plan.inference) {
        bounds.book = workloads::book_inference(step.model, built.plan, scenario.hardware.chips(),
                                                rates, step.report.parameters.value_or(0))
                          .step;
        return bounds;
    }
    const workloads::BookEstimate book =
        workloads::book_step(step.model, built.plan, step.mesh, rates);
    bounds.book = book.time;
    bounds.book_loading = book.loading;
    return bounds;
}

OrderedMemory memory_in_order(const Scenario& scenario, const BuiltStep& built) {
    OrderedMemory memory;
    workloads::MemoryPeak most;
    for (const workloads::StepProgram& program : built.programs.programs) {
        const workloads::MemoryPeak peak = workloads::peak_in_program_order(program);
        if (peak.total > most.total) {
            most = peak;
        }
    }
    memory.peak = most.total;
    memory.capacity = scenario.hardware.chip.usable_hbm();
    memory.fits = memory.peak <= memory.capacity;
    memory.tight = std::abs(memory.peak / memory.capacity - 1) <= kMemoryBelief;
    for (const workloads::MemoryClass each : workloads::kMemoryClasses) {
        memory.at_peak.emplace_back(workloads::to_string(each), most.of(each));
    }
    return memory;
}

StepEstimate estimate_step(const Scenario& scenario) {
    const BuiltStep built = build_step_of(scenario);
    return {.bounds = bounds_of(scenario, built),
            .memory = memory_in_order(scenario, built),
            .prefetch_layers = built.plan.overlap.prefetch_layers};
}

RunSize size_of_run(const Scenario& scenario, Fold fold, Watch* watch) {
    const AchievedHardware hardware(scenario.hardware);
    const auto size_of = [&](const sim::Workload& workload, const Layout& layout) {
        const RunMemory memory = memory_of_run(workload);
        refuse_beyond_memory(memory, fold);
        return RunSize{.events = events_of(workload),
                       .simulated_chips = static_cast<int>(layout.simulated()),
                       .chips = hardware.chips(),
                       .most_memory_bytes = memory.bytes()};
    };
    try {
        if (scenario.is_program()) {
            const LoweredProgram lowered = lower_program(hardware, scenario.program(), fold, watch);
            return size_of(lowered.workload, lowered.layout);
        }
        const LoweredStep lowered = lower_step(build_step_of(scenario, nullptr, watch).programs,
                                               hardware, scenario.step().mesh, fold, watch);
        return size_of(lowered.workload, lowered.layout);
    } catch (const sim::InputError& error) {
        throw error.at({scenario.file, 0, 0});
    }
}

}  // namespace podsim::scenarios
