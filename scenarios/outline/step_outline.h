// A true lower bound of a simulated step, without simulating it: `search_bound`.
//
// It is the largest of
//   the longest path through the program with every operation alone (longest_path.h, least_times.h),
//   the sum of what the compute stream does,
//   the sums of each resource that a chip has: HBM with what messages must move, the ICI links of every set of axes, PCIe and
//     DCN, as roofline_lower has them, at the rates that the profile reaches, and every byte counted on each of the links that it
//     has to pass, and of any one link what algorithms put there (link_sums.h).
// All of it under the scenario's own profile: achieved rates, launch costs, padding. Steps of many like layers are outlined by
// few of them (short_step.h); of the others the whole program is built.
//
// What a plan says is worked out once for all meshes of the same sizes on which it is the same: an outline is of a plan, `bound` of a
// mesh.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scenarios/least/least_times.h"
#include "scenarios/outline/longest_path.h"
#include "scenarios/outline/short_step.h"
#include "scenarios/outline/sure_memory.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

class StepOutline {
public:
    /// Of a scenario that is a training step or a step of inference; of its mesh the sizes count. Throws sim::InputError where
    /// the step cannot be built.
    /// With TensorCollectives::in_steps the scenario's tensor collectives are blocking, and what is outlined is the same plan with
    /// collective matmuls, whatever the shape of their rings: a bound, of its memory `least_kept` alone, and weaker than that of their own program.
    /// Parts of a matmul take together no less than the whole, and from where rows are there until their matmul is done, or from
    /// where it begins until its sums are there, the longer of it and its collective.
    /// `known`: what outlines of one thread know of collectives; its own without it.
    explicit StepOutline(const Scenario& scenario,
                         TensorCollectives tensor = TensorCollectives::as_built,
                         std::shared_ptr<KnownBounds> known = std::make_shared<KnownBounds>());
    StepOutline(const StepOutline&) = delete;
    StepOutline& operator=(const StepOutline&) = delete;

    /// No run of the step holds less at its peak. Where that does not fit, and is not tight either (explain/memory.h), there is no bound of
    /// its time.
    [[nodiscard]] sim::Bytes least_peak() const { return least_peak_; }
    /// Of it what every run holds in whatever steps its tensor collectives go.
    [[nodiscard]] sim::Bytes least_kept() const { return least_kept_; }
    /// No run of the step on that mesh, which has these sizes, ends before it. Throws sim::InputError where a group of the step is
    /// none on that mesh.
    [[nodiscard]] sim::Time bound(const PlacedMesh& mesh);
    /// Of it the compute stream and the resources alone: a bound in whatever order the step does things.
    [[nodiscard]] sim::Time sums(const PlacedMesh& mesh) const;
    struct Estimate {
        sim::Time bound{};
        /// About what the step takes: as the bound, were all groups of a collective to begin together. No bound, and a guess by
        /// which to look first where it is good.
        sim::Time likely{};
    };
    [[nodiscard]] Estimate estimate(const PlacedMesh& mesh);
    /// Whether it was found without building the whole program.
    [[nodiscard]] bool is_short() const { return short_.has_value(); }

private:
    [[nodiscard]] sim::Bytes peak_of_short(double HeldBytes::*bytes) const;
    void outline_short();
    void outline_whole(const Scenario& scenario);
    bool fits_in_order(const ShortStep& step) const;
    void number_operations();
    void find_steps();
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
    [[nodiscard]] sim::Time path(const std::vector<LeastTime>& of_kinds);

    AchievedHardware hardware_;
    std::shared_ptr<KnownBounds> known_;
    LeastTimes least_;
    Edges edges_ = Edges::scheduled;
    std::optional<ShortStep> short_;
    workloads::StepPrograms programs_;  ///< that of the short step, or all
    OperationKinds kinds_;
    std::vector<std::vector<std::uint32_t>> kind_of_;  ///< by program and operation
    std::vector<std::vector<LeastTime>> compute_;      ///< the same; zero of communication
    std::vector<std::vector<LeastTime>> times_;        ///< of the mesh that is looked at
    sim::Time busy_;                                   ///< the longest compute stream
    /// Of a program, the collectives that go in steps and what is computed between these.
    std::vector<std::map<workloads::OpIndex, sim::Time>> beside_;
    const TensorCollectives tensor_;
    /// Of a plan whose collective matmuls may fit where blocking ones do not, and then look further ahead: its path may be another.
    bool sums_alone_ = false;
    /// One operation of each kind of communication with the bytes of all, and one of all kernels' traffic.
    std::optional<workloads::StepPrograms> totals_;
    sim::Bytes least_peak_;
    sim::Bytes least_kept_;
};

}  // namespace podsim::scenarios
