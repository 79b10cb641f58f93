// A true lower bound of a simulated step, without simulating it: `search_bound`.
//
// It is the largest of
//   the longest path through the program with every operation alone (longest_path.h, least_times.h),
//   the sum of what the compute stream does,
//   the sums of each resource that a chip has: HBM with what messages must move, the ICI links of every set of axes, PCIe and
//     DCN, as roofline_lower has them, at the rates that the profile reaches; of tori also with every byte counted on each of the
//     links that it has to pass.
// All of it under the scenario's own profile: achieved rates, launch costs, padding. Steps of many like layers are outlined by
// few of them (short_step.h); of the others the whole program is built.
//
// What a plan says is worked out once for all meshes of the same sizes on which it is the same: an outline is of a plan, `bound` of a
// mesh.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scenarios/outline/least_times.h"
#include "scenarios/outline/longest_path.h"
#include "scenarios/outline/short_step.h"
#include "scenarios/outline/sure_memory.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

class StepOutline {
public:
    /// Of a scenario that is a training step or a step of inference; of its mesh the sizes count. Throws sim::InputError where
    /// the step cannot be built.
    explicit StepOutline(const Scenario& scenario);
    StepOutline(const StepOutline&) = delete;
    StepOutline& operator=(const StepOutline&) = delete;

    /// No run of the step holds less at its peak. Where that does not fit, there is no bound of its time.
    [[nodiscard]] sim::Bytes least_peak() const { return least_peak_; }
    /// No run of the step on that mesh, which has these sizes, ends before it. Throws sim::InputError where a group of the step is
    /// none on that mesh.
    [[nodiscard]] sim::Time bound(const topology::DeviceMesh& mesh);
    /// Whether it was found without building the whole program.
    [[nodiscard]] bool is_short() const { return short_.has_value(); }

private:
    [[nodiscard]] sim::Bytes peak_of_short(double HeldBytes::*bytes) const;
    void outline_short();
    void outline_whole(const Scenario& scenario);
    bool fits_in_order(const ShortStep& step) const;
    void number_operations();
    /// What a program does in all.
    struct Totals {
        std::vector<std::int64_t> times{};  ///< by kind of communication
        double hbm = 0;                     ///< bytes of all kernels
        sim::Time busy{};
    };
    Totals totals_of(const workloads::StepPrograms& programs);
    void lengthen();
    void lengthen_optimizer(const workloads::StepProgram& longer);
    void add_totals(const Totals& totals);
    [[nodiscard]] workloads::StepPrograms by_hops(const topology::DeviceMesh& mesh) const;
    [[nodiscard]] sim::Time path(const std::vector<LeastTime>& of_kinds) const;

    AchievedHardware hardware_;
    LeastTimes least_;
    Edges edges_ = Edges::scheduled;
    std::optional<ShortStep> short_;
    workloads::StepPrograms programs_;  ///< that of the short step, or all
    OperationKinds kinds_;
    std::vector<std::vector<std::uint32_t>> kind_of_;  ///< by program and operation
    std::vector<std::vector<LeastTime>> compute_;      ///< the same; zero of communication
    sim::Time busy_;                                   ///< the longest compute stream
    /// One operation of each kind of communication with the bytes of all, and one of all kernels' traffic.
    std::optional<workloads::StepPrograms> totals_;
    sim::Bytes least_peak_;
};

}  // namespace podsim::scenarios
