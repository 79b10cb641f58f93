#include "scenarios/outline/times_left.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "scenarios/least/least_times.h"
#include "scenarios/least/placed_mesh.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {
namespace {

constexpr FrontWidth kAll = 1 + kMostFamilies;

/// Fronts here are what is left from their first chip, and from the last of each family's groups.
TimeFront before(const LeastTime& least, const TimeFront& behind) {
    TimeFront left = behind;
    if (least.family == LeastTime::kAlike) {
        return behind.behind(least, kAll);
    }
    left.ps[0] += least.receive.ps;
    if (least.family != LeastTime::kNobody) {
        const std::size_t own = 1U + least.family;
        left.ps[0] = std::max(left.ps[0], behind.ps[own] + least.all.ps);
        left.ps[own] = std::max(behind.ps[0], behind.ps[own] + least.send.ps);
    }
    return left;
}

}  // namespace

std::vector<sim::Time> times_left(const workloads::StepProgram& program,
                                  std::span<const LeastTime> times) {
    std::vector<TimeFront> behind(program.ops.size());
    std::vector<sim::Time> left(program.ops.size());
    for (std::size_t i = program.ops.size(); i-- > 0;) {
        const TimeFront here = before(times[i], behind[i]);
        left[i] = {here.latest(kAll)};
        for (const workloads::OpIndex other : program.ops[i].after) {
            behind[other].wait_for(here, kAll);
        }
    }
    return left;
}

std::vector<sim::Time> times_left(const Scenario& scenario, const workloads::StepPrograms& programs,
                                  KnownBounds& known) {
    if (programs.programs.size() != 1) {
        return {};
    }
    const AchievedHardware hardware(scenario.hardware);
    LeastTimes least(hardware, TensorCollectives::as_built, known);
    OperationKinds kinds;
    std::vector<std::uint32_t> kind_of;
    const workloads::StepProgram& program = programs.programs.front();
    for (const workloads::Op& op : program.ops) {
        if (std::holds_alternative<workloads::Handover>(op.work)) {
            return {};
        }
        kind_of.push_back(kinds.of(programs, 0, op));
    }
    const PlacedMesh mesh(scenario.step().mesh);
    const std::vector<LeastTime> of_kinds = least.of(kinds, programs, mesh);
    std::vector<LeastTime> times;
    times.reserve(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        const auto* work = std::get_if<workloads::Compute>(&program.ops[i].work);
        times.push_back(work != nullptr ? LeastTime{least.of(*work)} : of_kinds[kind_of[i]]);
    }
    return times_left(program, times);
}

}  // namespace podsim::scenarios
