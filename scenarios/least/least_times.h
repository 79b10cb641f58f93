// The least time that each operation of a step can take in the simulation, with the machine for itself.
//
//   compute            what it takes with the HBM for itself: it never takes less
//   collective         the launch cost and B, the least of the bounds of the algorithms that may carry it out: its physical bound,
//                      and what they put on their busiest link (collectives/catalogue/choose_algorithm.h), at the rates that the
//                      profile reaches. Of members that are not alike (time_front.h), with L links of the best connected one:
//                        receive  (n-1)/n V of an AllGather, V/n of a ReduceScatter, V of an AllReduce, (n-1)/n^2 V of an AllToAll,
//                        send     nothing,                   (n-1)/n V,              V,                 (n-1)/n^2 V,
//                      all over L links. Where groups share links of which some may do something else at that time (those between the
//                      members of a strided one, those of a host's other chips), B counts the bytes of those that are known to do the
//                      same (like_chips.h): with c the share of an axis that they cover, v the bytes that a member receives over a
//                      factor of stride s, and R the rate of a link,
//                        along an axis   c sum(s v) <= 2 R B,   v <= R B of a pair on a line, v <= 2 R B of others,   sum(v) <= 2 R B
//                      in the mean over the members, and for the members at the end of a line, whose last links k such groups share,
//                      v <= R B / k; whichever is the greater B. An algorithm divides an AllGather or a ReduceScatter among the
//                      factors as it would with all links to itself and its like, however crowded they are: with blocks of h bytes
//                      along a factor (algorithm_links.h) and k lines in a run of s f chips that are known to do the same,
//                        k h (f - 1) <= R B of a line, half of that of a ring,
//                      for every factor, and h (f - 1) over the two links of a member (one of a pair on a line) is received, or
//                      sent, by the algorithm for which the largest of these is the least.
//   ring step          the launch cost and its bytes over the links of its stride, or those of the k lines in a run of s f chips that are
//                      known to do the same over the link that all of them pass; of a step both ways half of the bytes
//   handover           what its routes, or PCIe, need for its bytes
//   host transfer      its bytes over PCIe
// All rounded down, so that a sum of them is above no simulated time. Perturbations only slow things down, and make chips unlike;
// where they take links away, messages go by others, and nothing is said of collectives.
#pragma once

#include <vector>

#include "scenarios/least/known_bounds.h"
#include "scenarios/least/like_chips.h"
#include "scenarios/least/operation_kinds.h"
#include "scenarios/least/placed_mesh.h"
#include "scenarios/least/time_front.h"
#include "scenarios/lower/layout.h"
#include "scenarios/lower/rates.h"
#include "scenarios/spec/hardware.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

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
    [[nodiscard]] KnownBounds::OfMachine& known() const { return known_; }

private:
    /// A mesh, the chips on it that do the same, and the families of those groups whose members do not.
    struct Placement {
        const PlacedMesh& mesh;
        const LikeChips& like;
        std::vector<collectives::Members> families{};
    };
    [[nodiscard]] Placement placement(const OperationKinds& kinds,
                                      const workloads::StepPrograms& programs,
                                      const PlacedMesh& mesh) const;
    [[nodiscard]] LeastTime of(const workloads::Collective& collective,
                               const workloads::StepPrograms& programs, Placement& placement);
    /// Of what is not a collective.
    [[nodiscard]] sim::Time of_others(const OperationKinds::Kind& kind,
                                      const workloads::StepPrograms& programs,
                                      const topology::DeviceMesh& mesh) const;
    /// What one member must receive and send over links of that rate in all: `receive` and `send`.
    [[nodiscard]] LeastTime of_member(const workloads::Collective& collective, int members,
                                      sim::BytesPerSecond rate) const;
    /// Of the best connected member, with the links for itself.
    [[nodiscard]] sim::BytesPerSecond best_rate(const collectives::Members& members) const;
    /// B where others share its links that may do something else.
    [[nodiscard]] sim::Time crowded(const workloads::Collective& collective,
                                    const collectives::Members& members,
                                    const LikeChips& like) const;
    /// Of the members in the mean, and of those at the ends of lines, where groups like theirs share the links. `routed`: messages go
    /// by the links of several factors at a time.
    [[nodiscard]] sim::BytesPerSecond mean_rate(const collectives::Members& members,
                                                const LikeChips& like, bool routed) const;
    [[nodiscard]] sim::BytesPerSecond end_rate(const collectives::Members& members,
                                               const LikeChips& like) const;
    /// What the algorithms that may carry it out put on one link, the least of theirs: of an AllGather or a ReduceScatter.
    template <class BlocksOf>
    [[nodiscard]] sim::Time by_algorithm(const workloads::Collective& collective,
                                         const collectives::Members& members,
                                         BlocksOf blocks_of) const;
    /// On the busiest link of a factor, of the lines that are known to do the same.
    [[nodiscard]] sim::Time crowded_by_algorithm(const workloads::Collective& collective,
                                                 const collectives::Members& members,
                                                 const LikeChips& like) const;
    /// On the links of one member, by which it gets an AllGather's blocks, or hands on a ReduceScatter's.
    [[nodiscard]] sim::Time of_member_by_algorithm(const workloads::Collective& collective,
                                                   const collectives::Members& members) const;
    [[nodiscard]] bool is_ring(const topology::AxisFactor& factor) const;
    /// `lines`: of those that lie in one run of its factor, how many begin together, that of a member among them.
    [[nodiscard]] sim::Time of_ring_step(const workloads::Collective& collective,
                                         const collectives::Members& members, int lines) const;
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
    KnownCollectives& known_collectives_;
};

}  // namespace podsim::scenarios
