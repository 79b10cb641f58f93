// A true lower bound of a simulated step, without simulating it: `search_bound`.
//
// It is the largest of
// - the longest path through the program with every operation alone (longest_path.h,
//   least_times.h),
// - the sum of the work of the compute stream,
// - the sums of each resource of a chip: HBM with the bytes that messages must move, the ICI links
//   of every set of axes, PCIe and DCN, as roofline_lower has them, at the rates that the profile
//   reaches, with every byte counted on each of the links that it has to pass; and for any one link
//   the bytes that algorithms put there.
//
// All of it holds under the scenario's own profile: achieved rates, launch costs, padding. Steps of
// many like layers are outlined by few of them (short_step.h); for the others the whole program is
// built.
//
// The results that depend on the plan alone are computed once for all meshes of the same sizes on
// which it is the same: an outline belongs to a plan, `bound` to a mesh.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/search/known_bounds.h"
#include "scenarios/src/search/least_times.h"
#include "scenarios/src/search/longest_path.h"
#include "scenarios/src/search/operation_kinds.h"
#include "scenarios/src/search/placed_mesh.h"
#include "scenarios/src/search/short_step.h"
#include "scenarios/src/search/sure_memory.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "topology/lattice/lattice.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

// Bytes that the collectives of a program must put on any one link, by what their algorithms do.
// The bytes that no algorithm avoids are in roofline_lower.

/// Returns the longest time for which the AllGathers and ReduceScatters of a program, and their
/// single steps, keep any one link busy with the bytes of their algorithms (known_bounds.h; not
/// on twisted tori). All of these bytes pass in the course of the step, at whatever time. `tensor`:
/// collectives that may go in steps are left out if nothing says which steps these are.
sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known);

class StepOutline {
public:
    /// Outlines a scenario that is a training step or a step of inference; only the sizes of its
    /// mesh count. Throws sim::InputError if the step cannot be built.
    ///
    /// With TensorCollectives::in_steps the scenario's tensor collectives are blocking, and the
    /// outline stands for the same plan with collective matmuls, whatever the shape of their rings.
    /// It is a bound, weaker than that of their own program; for its memory only `least_kept` is
    /// one. The segments of a matmul together take no less than the whole. The longer of the matmul
    /// and its collective passes from when rows are there until their matmul is done, or from when
    /// it begins until its sums are there.
    ///
    /// `known`: cache of collectives for the outlines of one thread; by default the outline has its
    /// own.
    explicit StepOutline(const Scenario& scenario,
                         TensorCollectives tensor = TensorCollectives::as_built,
                         std::shared_ptr<KnownBounds> known = std::make_shared<KnownBounds>());
    StepOutline(const StepOutline&) = delete;
    StepOutline& operator=(const StepOutline&) = delete;

    /// Returns a lower bound of the peak memory of every run of the step. If it does not fit, and
    /// is not tight either (simulate/memory.h), there is no bound of the time.
    [[nodiscard]] sim::Bytes least_peak() const { return least_peak_; }
    /// Returns a lower bound of peak memory that also holds in whatever steps the tensor
    /// collectives go.
    [[nodiscard]] sim::Bytes least_kept() const { return least_kept_; }
    /// Returns a lower bound of every run of the step on that mesh, which has these sizes. Throws
    /// sim::InputError if a group of the step is invalid on that mesh.
    [[nodiscard]] sim::Time bound(const PlacedMesh& mesh);
    /// Returns the bound by the compute stream and the resources alone, which holds in whatever
    /// order the step does things.
    [[nodiscard]] sim::Time sums(const PlacedMesh& mesh) const;
    struct Estimate {
        sim::Time bound{};
        /// Expected time of the step: like the bound, if all groups of a collective began together.
        /// It is no bound, but a guess that says which meshes to try first.
        sim::Time likely{};
    };
    [[nodiscard]] Estimate estimate(const PlacedMesh& mesh);
    /// True if it was found without building the whole program.
    [[nodiscard]] bool is_short() const { return short_.has_value(); }

private:
    [[nodiscard]] sim::Bytes peak_of_short(double HeldBytes::*bytes) const;
    void outline_short();
    void outline_whole(const Scenario& scenario);
    bool fits_in_order(const ShortStep& step) const;
    void number_operations();
    void find_steps();
    /// Total work of a program.
    struct Totals {
        std::vector<std::int64_t> times{};  ///< count by kind of communication
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
    workloads::StepPrograms programs_;  ///< of the short step, or all
    OperationKinds kinds_;
    std::vector<std::vector<std::uint32_t>> kind_of_;  ///< by program and operation
    std::vector<std::vector<LeastTime>> compute_;      ///< the same; zero for communication
    std::vector<std::vector<LeastTime>> times_;        ///< for the current mesh
    sim::Time busy_;                                   ///< the longest compute stream
    /// By program: the collectives that go in steps, and the computing between these steps.
    std::vector<std::map<workloads::OpIndex, sim::Time>> beside_;
    const TensorCollectives tensor_;
    /// True for a plan whose collective matmuls may fit although blocking ones do not, and then
    /// look further ahead. Its path may be another.
    bool sums_alone_ = false;
    /// One operation of each kind of communication with the bytes of all, and one with the traffic
    /// of all kernels.
    std::optional<workloads::StepPrograms> totals_;
    sim::Bytes least_peak_;
    sim::Bytes least_kept_;
};

}  // namespace podsim::scenarios
