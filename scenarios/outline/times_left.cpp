#include "scenarios/outline/times_left.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

#include "scenarios/outline/known_bounds.h"
#include "scenarios/outline/least_times.h"
#include "scenarios/outline/placed_mesh.h"
#include "scenarios/spec/training_step.h"

namespace podsim::scenarios {
namespace {

/// As a front: from its first chip, and from the last of each family's groups, to the end of the step.
using Left = std::array<std::int64_t, 1 + kMostFamilies>;

Left before(const LeastTime& least, const Left& behind) {
    Left left = behind;
    if (least.family == LeastTime::kAlike) {
        for (std::int64_t& one : left) {
            one += least.all.ps;
        }
        return left;
    }
    left[0] = behind[0] + least.receive.ps;
    if (least.family != LeastTime::kNobody) {
        const std::size_t own = 1U + least.family;
        left[0] = std::max(left[0], behind[own] + least.all.ps);
        left[own] = std::max(behind[0], behind[own] + least.send.ps);
    }
    return left;
}

}  // namespace

std::vector<sim::Time> times_left(const workloads::StepProgram& program,
                                  std::span<const LeastTime> times) {
    std::vector<Left> behind(program.ops.size(), Left{});
    std::vector<sim::Time> left(program.ops.size());
    for (std::size_t i = program.ops.size(); i-- > 0;) {
        const Left here = before(times[i], behind[i]);
        left[i] = {*std::ranges::max_element(here)};
        for (const workloads::OpIndex other : program.ops[i].after) {
            std::ranges::transform(behind[other], here, behind[other].begin(),
                                   [](auto one, auto two) { return std::max(one, two); });
        }
    }
    return left;
}

std::vector<sim::Time> times_left(const Scenario& scenario,
                                  const workloads::StepPrograms& programs) {
    if (programs.programs.size() != 1) {
        return {};
    }
    const AchievedHardware hardware(scenario.hardware);
    KnownBounds known;
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
