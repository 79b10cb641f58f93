// Lower bounds of the time that each operation of a step takes in the simulation, with the machine
// to itself.
//
//   compute        its time with the HBM to itself, which it never undercuts
//   collective     the launch cost and B, the least of the bounds of its possible algorithms: its
//                  physical bound, and the time of the bytes that they put on their busiest link
//                  (collectives/catalogue/choose_algorithm.h), at the rates that the profile
//                  reaches. If its members are not alike (time_front.h) and the best connected one
//                  has L links, the receive and send times are these bytes over L links:
//                               AllGather   ReduceScatter   AllReduce   AllToAll
//                    receive    (n-1)/n V   V/n             V           (n-1)/n^2 V
//                    send       nothing     (n-1)/n V       V           (n-1)/n^2 V
//                  Groups may share links with chips that do something else at that time: those
//                  between the members of a strided group, or a host's other chips. B then counts
//                  the bytes of the chips that are known to do the same (like_chips.h). With c the
//                  fraction of an axis that they cover, v the bytes that a member receives over a
//                  factor of stride s, and R the rate of a link, these hold along an axis:
//                    c sum(s v) <= 2 R B,   sum(v) <= 2 R B,
//                    v <= R B of a pair on a line,   v <= 2 R B of others.
//                  They hold in the mean over the members. For the members at the end of a line,
//                  whose last links k such groups share, v <= R B / k holds. The greater B counts.
//                  An algorithm divides an AllGather or a ReduceScatter among the factors as if it
//                  and its like had all links to themselves, however crowded these are. With
//                  blocks of h bytes along a factor (known_bounds.h), and k lines in a run of
//                  s f chips that are known to do the same, every factor obeys
//                    k h (f - 1) <= R B of a line, half of that of a ring.
//                  A member receives, or sends, h (f - 1) over its two links (over one of a pair
//                  on a line). The algorithm whose largest time is the least gives the bound.
//   ring step      the launch cost and its bytes over the links of its stride, or those of the k
//                  lines in a run of s f chips that are known to do the same over the link that
//                  all of them pass; half of the bytes for a step in both directions
//   handover       its bytes over its routes or over PCIe
//   host transfer  its bytes over PCIe
// All times are rounded down, so that no sum of them exceeds a simulated time. Perturbations only
// slow things down and make chips unlike. If they take links away, messages use others, and
// collectives have no bound.
#pragma once

#include <vector>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/search/known_bounds.h"
#include "scenarios/src/search/like_chips.h"
#include "scenarios/src/search/operation_kinds.h"
#include "scenarios/src/search/placed_mesh.h"
#include "scenarios/src/search/time_front.h"
#include "scenarios/src/simulate/layout.h"
#include "scenarios/src/simulate/rates.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Lower bounds of communication times on one mesh after the other.
class LeastTimes {
public:
    /// `known` caches what is computed for collectives.
    LeastTimes(const AchievedHardware& hardware, TensorCollectives tensor, KnownBounds& known);

    /// Returns the times by kind. `programs` are those of the step: they define who shares work,
    /// and how stages lie relative to each other.
    [[nodiscard]] std::vector<LeastTime> of(const OperationKinds& kinds,
                                            const workloads::StepPrograms& programs,
                                            const PlacedMesh& mesh);
    /// Returns expected times, no bounds: all groups of a collective begin together and share the
    /// links that they must share.
    [[nodiscard]] std::vector<LeastTime> likely(const OperationKinds& kinds,
                                                const workloads::StepPrograms& programs,
                                                const PlacedMesh& mesh);
    [[nodiscard]] sim::Time of(const workloads::Compute& work) const { return durations_.of(work); }
    [[nodiscard]] sim::Time launch() const { return durations_.launch(); }
    [[nodiscard]] KnownBounds::OfMachine& known() const { return known_; }

private:
    /// A mesh, the chips on it that do the same, and the families of those groups whose members do
    /// not.
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
    /// Returns the time of an operation that is not a collective.
    [[nodiscard]] sim::Time of_others(const OperationKinds::Kind& kind,
                                      const workloads::StepPrograms& programs,
                                      const topology::DeviceMesh& mesh) const;
    /// Returns the times to receive and to send all bytes of one member over links of that rate:
    /// `receive` and `send`.
    [[nodiscard]] LeastTime of_member(const workloads::Collective& collective, int members,
                                      sim::BytesPerSecond rate) const;
    /// Returns the rate of the best connected member, with the links to itself.
    [[nodiscard]] sim::BytesPerSecond best_rate(const collectives::Members& members) const;
    /// Returns B if others that may do something else share the links.
    [[nodiscard]] sim::Time crowded(const workloads::Collective& collective,
                                    const collectives::Members& members,
                                    const LikeChips& like) const;
    /// Return the mean rate of the members, and the rate of those at the ends of lines, if groups
    /// like theirs share the links. `routed`: messages use the links of several factors at a time.
    [[nodiscard]] sim::BytesPerSecond mean_rate(const collectives::Members& members,
                                                const LikeChips& like, bool routed) const;
    [[nodiscard]] sim::BytesPerSecond end_rate(const collectives::Members& members,
                                               const LikeChips& like) const;
    /// Returns the launch cost and the time of the bytes on one link, the least over the possible
    /// algorithms of an AllGather or a ReduceScatter.
    template <class BlocksOf>
    [[nodiscard]] sim::Time by_algorithm(const workloads::Collective& collective,
                                         const collectives::Members& members,
                                         BlocksOf blocks_of) const;
    /// Returns the time on the busiest link of a factor, for the lines that are known to do the
    /// same.
    [[nodiscard]] sim::Time crowded_by_algorithm(const workloads::Collective& collective,
                                                 const collectives::Members& members,
                                                 const LikeChips& like) const;
    /// Returns the time on the links of one member, which receive an AllGather's blocks or forward
    /// a ReduceScatter's.
    [[nodiscard]] sim::Time of_member_by_algorithm(const workloads::Collective& collective,
                                                   const collectives::Members& members) const;
    [[nodiscard]] bool is_ring(const topology::AxisFactor& factor) const;
    /// `lines`: of the lines in one run of its factor, how many begin together, including the
    /// member's own.
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
    const bool detours_;  ///< links are dead
    const TensorCollectives tensor_;
    KnownBounds::OfMachine& known_;
    KnownCollectives& known_collectives_;
};

}  // namespace podsim::scenarios
