#include "scenarios/src/simulate/step_programs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/build_machine.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_memory.h"
#include "scenarios/src/simulate/step_memory.h"
#include "sim/base/error.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/ici_traffic.h"
#include "workloads/program/alike_work.h"
#include "workloads/program/latency_hiding.h"
#include "workloads/program/step_program.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

class OperationTimer {
public:
    OperationTimer(const AchievedHardware& hardware, const topology::DeviceMesh& mesh)
        : hardware_(hardware),
          mesh_(mesh),
          durations_(hardware),
          links_(slice_links(hardware)),
          link_(hardware.chip.ici_one_way(hardware.ici_rates)) {}

    workloads::OperationTime operator()(const workloads::Op& op) {
        if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
            return {durations_.of(*work)};
        }
        if (const auto* transfer = std::get_if<workloads::HostTransfer>(&op.work)) {
            return {sim::round_up(transfer->bytes / links_.pcie + links_.pcie_latency)};
        }
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr) {
            return {};
        }
        if (collective->step) {
            return {durations_.launch() +
                    sim::round_up(collective->step->bytes / link_ + hop_latency())};
        }
        return {durations_.launch() + sim::round_up(alone(*collective)),
                mesh_.across(collective->axes).length > 1};
    }

private:
    [[nodiscard]] sim::Seconds hop_latency() const { return hardware_.chip.ici_latency.value; }

    sim::Seconds alone(const workloads::Collective& collective) {
        const auto [entry, added] =
            alone_.try_emplace({collective.operation, collective.axes, collective.bytes.value(),
                                collective.loads, collective.returning, collective.shift});
        if (added && collective.bytes.value() > 0) {
            const collectives::CollectiveCall call{
                .operation = collective.operation,
                .slice = hardware_.slice,
                .members = {mesh_.group(collective.axes), collective.loads.empty()
                                                              ? mesh_.across(collective.axes)
                                                              : topology::SliceFactor{}},
                .bytes = collective.bytes,
                .ends = workloads::ends_of(collective, hardware_.slice, mesh_)};
            entry->second = std::max(collectives::physical_bound(call, link_, links_),
                                     collectives::book_time(call, link_, hop_latency(), links_));
        }
        return entry->second;
    }

    using Key = std::tuple<collectives::Operation, std::vector<std::string>, double,
                           std::vector<double>, bool, int>;

    const AchievedHardware& hardware_;
    const topology::DeviceMesh& mesh_;
    const Durations durations_;
    const collectives::SliceLinks links_;
    const sim::BytesPerSecond link_;
    std::map<Key, sim::Seconds> alone_;
};

/// Returns the times by program and operation, at the rates that the profile reaches:
///   compute        its simulated time with an HBM of its own
///   collective     launch cost, plus the larger of its physical bound and the reference text's
///                  time, which counts the latency of its hops
///   ring step      launch cost, plus its bytes over one link and a hop's latency
///   host transfer  its bytes at PCIe's rate, and PCIe's latency
///   handover       0: its receiver waits for another stage
/// Perturbations are not counted: a compiler does not know them.
std::vector<workloads::OperationTimes> operation_times(const workloads::StepPrograms& programs,
                                                       const AchievedHardware& hardware,
                                                       const topology::DeviceMesh& mesh) {
    OperationTimer time(hardware, mesh);
    std::vector<workloads::OperationTimes> times;
    for (const workloads::StepProgram& program : programs.programs) {
        workloads::OperationTimes& of_program = times.emplace_back();
        of_program.reserve(program.ops.size());
        for (const workloads::Op& op : program.ops) {
            of_program.push_back(time(op));
        }
    }
    return times;
}

/// A step with fewer microbatches than this many times a small step's is built at once.
constexpr int kManyTimes = 4;
constexpr int kFewMicrobatches = 32;

/// Returns the operations of a step with this many microbatches of the same size.
double operations_of(const TrainingStep& step, int microbatches, sim::Bytes hbm) {
    workloads::TrainingPlan plan = step.plan;
    plan.batch.tokens = step.plan.batch.tokens / step.plan.batch.microbatches * microbatches;
    plan.batch.microbatches = microbatches;
    double operations = 0;
    for (const workloads::StepProgram& program :
         workloads::build_stages_that_fit(step.model, plan, hbm).programs) {
        operations += static_cast<double>(program.ops.size());
    }
    return operations;
}

}  // namespace

StepSize size_of_step(const Scenario& scenario) {
    const TrainingStep& step = scenario.step();
    StepSize size{.microbatches = step.plan.batch.microbatches};
    const int stages = std::max(1, step.mesh.size("pipeline"));
    const int few = stages * std::max(2, (kFewMicrobatches + stages - 1) / stages);
    if (step.plan.inference || size.microbatches < kManyTimes * few) {
        return size;
    }
    const sim::Bytes hbm = most_believed(scenario.hardware.chip.usable_hbm());
    const double one = operations_of(step, few, hbm);
    const double two = operations_of(step, 2 * few, hbm);
    size.of_each = (two - one) / few;
    size.fixed = one - size.of_each * few;
    return size;
}

void refuse_beyond_memory(const Scenario& scenario) {
    const StepSize size = size_of_step(scenario);
    const double limit = memory_limit();
    // A step whose operations were not counted is not judged here.
    if (size.bytes() <= limit || size.operations() == 0) {
        return;
    }
    const double most =
        std::floor(((limit - kBytesOfProcess) / kBytesOfOperation - size.fixed) / size.of_each);
    throw BeyondMemory(
        sim::InputError(
            fmt::format(
                "a step of {} microbatches is some {:.3g} operations, whose run takes up to {} of "
                "memory; podsim may take {}",
                size.microbatches, size.operations(), format_bytes(sim::Bytes(size.bytes())),
                format_bytes(sim::Bytes(limit))),
            most >= 1
                ? fmt::format("use at most {:.0f} microbatches, or give more with --memory", most)
                : std::string("use fewer microbatches, or give more with --memory"),
            {scenario.file, 0, 0}),
        size.bytes());
}

std::shared_ptr<const BuiltStep> build_step_of(const Scenario& scenario, StepMemory& memory,
                                               const IdealHardware* compiled_for, Watch* watch,
                                               LookAhead look_ahead) {
    refuse_beyond_memory(scenario);
    const TrainingStep& step = scenario.step();
    const sim::Bytes most = look_ahead == LookAhead::asked
                                ? sim::Bytes::infinity()
                                : most_believed(scenario.hardware.chip.usable_hbm());
    std::shared_ptr<const BuiltStep> built = memory.programs(step.model, step.plan, most, [&] {
        BuiltStep one{.plan = step.plan,
                      .programs = {},
                      .asked_prefetch = workloads::longest_prefetch(step.model, step.plan)};
        one.programs = workloads::build_stages_that_fit(step.model, one.plan, most,
                                                        [&] { tell(watch, Phase::building); });
        workloads::find_alike(one.programs);
        return one;
    });
    if (step.plan.overlap.schedule == workloads::SchedulePolicy::chain) {
        return built;
    }
    const AchievedHardware compiled(compiled_for != nullptr ? *compiled_for : scenario.hardware);
    try {
        BuiltStep ordered{
            built->plan,
            workloads::hide_latency(built->programs, built->plan.overlap,
                                    operation_times(built->programs, compiled, step.mesh),
                                    scenario.hardware.chip.hbm_capacity.value),
            built->asked_prefetch};
        workloads::find_alike(ordered.programs);
        return std::make_shared<const BuiltStep>(std::move(ordered));
    } catch (const sim::InputError& error) {
        throw error.at({scenario.file, 0, 0});
    }
}

BuiltStep build_step_of(const Scenario& scenario, const IdealHardware* compiled_for, Watch* watch) {
    StepMemory of_this_step;
    return *build_step_of(scenario, of_this_step, compiled_for, watch);
}

}  // namespace podsim::scenarios
