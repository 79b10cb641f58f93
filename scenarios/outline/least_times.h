// The least time that each operation of a step can take in the simulation, with the machine for itself.
//
//   compute            what it takes with the HBM for itself: it never takes less
//   collective         the launch cost and B, the least of the bounds of the algorithms that may carry it out: its physical bound,
//                      and what they put on their busiest link (collectives/catalogue/choose_algorithm.h), at the rates that the
//                      profile reaches. Of members that are not alike (time_front.h), with L links of the best connected one:
//                        receive  (n-1)/n V of an AllGather, V/n of a ReduceScatter, V of an AllReduce, (n-1)/n^2 V of an AllToAll,
//                        send     nothing,                   (n-1)/n V,              V,                 (n-1)/n^2 V,
//                      all over L links. Where groups share links whose chips may do something else at that time (those between the
//                      members of a strided one, those of a host's other chips), B counts none of the others' bytes: it is what the worst connected member must receive or send.
//   ring step          the launch cost and its bytes over one link, with the latency of that hop
//   handover           what its routes, or PCIe, need for its bytes
//   host transfer      its bytes over PCIe
// All rounded down, so that a sum of them is above no simulated time. Perturbations only slow things down, and make chips unlike;
// where they take links away, messages go by others, and nothing is said of collectives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/lower/layout.h"
#include "scenarios/lower/rates.h"
#include "scenarios/outline/known_bounds.h"
#include "scenarios/outline/placed_mesh.h"
#include "scenarios/outline/time_front.h"
#include "scenarios/spec/hardware.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Operations of a step that take the same time wherever they stand: of one program, or of all of them.
class OperationKinds {
public:
    static constexpr std::uint32_t kCompute = 0xffffffff;

    /// The kind of an operation of that program; kCompute of one that computes.
    std::uint32_t of(const workloads::StepPrograms& programs, std::size_t program,
                     const workloads::Op& op);
    /// An operation of each kind.
    struct Kind {
        workloads::Work work;
        std::size_t program = 0;
        std::size_t peer = 0;  ///< of a handover: the program of its other end
    };
    [[nodiscard]] std::span<const Kind> all() const { return kinds_; }

private:
    using Key = std::tuple<int, int, double, double, std::vector<std::string>, std::vector<double>,
                           bool, std::size_t, std::size_t>;
    std::map<Key, std::uint32_t> numbers_;
    std::vector<Kind> kinds_;
};

/// How a step's AllGathers and ReduceScatters over tensor go that stand whole in its program.
enum class TensorCollectives {
    as_built,
    /// In steps between the parts of the matmuls beside them, as nothing of the program says: of such a collective is known what a member
    /// must receive, and where all do the same also what it must send.
    in_steps,
};

bool may_go_in_steps(const workloads::Collective& collective);

/// Least times of communication on one mesh after the other.
class LeastTimes {
public:
    /// What is worked out of collectives goes to `known`, and is not worked out again.
    LeastTimes(const AchievedHardware& hardware, TensorCollectives tensor, KnownBounds& known);

    /// By kind. `programs` are those of the step: who shares work, and how stages lie to each other.
    [[nodiscard]] std::vector<LeastTime> of(const OperationKinds& kinds,
                                            const workloads::StepPrograms& programs,
                                            const PlacedMesh& mesh);
    /// What they take where all groups of a collective begin together and share the links that they have to: no bound, but what
    /// is to be expected.
    [[nodiscard]] std::vector<LeastTime> likely(const OperationKinds& kinds,
                                                const workloads::StepPrograms& programs,
                                                const PlacedMesh& mesh);
    [[nodiscard]] sim::Time of(const workloads::Compute& work) const { return durations_.of(work); }
    [[nodiscard]] sim::Time launch() const { return durations_.launch(); }

private:
    /// A mesh, the chips on it that do the same, and the families of those groups whose members do not.
    struct Placement {
        const PlacedMesh& mesh;
        topology::Places folded;
        std::vector<collectives::Members> families{};
    };
    [[nodiscard]] Placement placement(const OperationKinds& kinds,
                                      const workloads::StepPrograms& programs,
                                      const PlacedMesh& mesh) const;
    [[nodiscard]] bool alike(const collectives::Members& members,
                             const topology::Places& folded) const;
    [[nodiscard]] LeastTime of(const workloads::Collective& collective,
                               const workloads::StepPrograms& programs, Placement& placement);
    /// Of what is not a collective.
    [[nodiscard]] sim::Time of_others(const OperationKinds::Kind& kind,
                                      const workloads::StepPrograms& programs,
                                      const topology::DeviceMesh& mesh) const;
    [[nodiscard]] static bool crowded(const collectives::Members& members,
                                      const topology::Places& folded);
    /// What one member must receive and send, with the links of the best or the worst connected: `receive` and `send`.
    enum class Member { best, worst };
    [[nodiscard]] LeastTime of_member(const workloads::Collective& collective,
                                      const collectives::Members& members, Member member) const;
    [[nodiscard]] sim::Time of_ring_step(const workloads::Collective& collective) const;
    [[nodiscard]] sim::Time of(const workloads::Handover& handover,
                               const topology::DeviceMesh::Displacement& way) const;
    [[nodiscard]] sim::Time physical(const workloads::Collective& collective,
                                     const PlacedMesh& mesh);

    const AchievedHardware& hardware_;
    const Durations durations_;
    const collectives::SliceLinks links_;
    const sim::BytesPerSecond link_;
    const bool detours_;  ///< some links are dead
    const TensorCollectives tensor_;
    KnownBounds::OfMachine& known_;
};

}  // namespace podsim::scenarios
