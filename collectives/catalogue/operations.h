// The operations, one row each: every property of an operation is a field of its row.
//
// A new operation is a name in vocabulary/operation.h, its own pair of files in algorithms/ and a
// row in operations.cpp; tests/collectives/catalogue/operations_test.cpp loops over the rows.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/algorithms/ring_bounds.h"
#include "collectives/paths/link_model.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// The fields of Ends that an operation takes. If it takes any, members are not alike, and it stays
/// within a slice.
enum class EndsTaken {
    none,
    shift,
    root,       ///< the member of every group at one position
    two_chips,  ///< `root` and `to`; the operation is among all chips and has no group
};

struct OperationInfo {
    Operation operation{};
    std::string_view name;
    std::string_view summary;
    EndsTaken ends = EndsTaken::none;
    bool towards_root = false;  ///< for EndsTaken::root: bytes go to the root, not from it
    /// Bytes are sent from member to member on fixed routes, which do not go round dead links, and
    /// directly between slices. Other operations pass them on along rings and lines.
    bool routed = false;
    /// The carrier of a routed operation's bytes, for reports.
    std::string_view carried_by{};

    // Execution. In calls to `build` and those below, `algorithm` is resolved (build_schedule.h).

    /// Candidates of `automatic` (choose_algorithm.h), the one for the largest arrays first.
    std::vector<Algorithm> (*candidates)(const CollectiveCall&) = nullptr;
    /// All algorithms that carry it out within a slice.
    std::vector<Algorithm> (*algorithms)(const CollectiveCall&) = nullptr;
    CollectiveSchedule (*build)(const CollectiveCall&, const ScheduleOptions&,
                                ShiftTable&) = nullptr;
    /// The lattice that the slice folds to: topology::fold, but no folding within a group whose
    /// members are not alike.
    topology::Lattice (*places)(const CollectiveCall&) = nullptr;
    /// The operation within each slice if its group has members in several.
    Operation within_slices{};

    // Times of groups within a slice. A group of one member needs no time, and none is asked.

    /// Lower bound of the busiest link's bytes.
    sim::Bytes (*bound)(const CollectiveCall&) = nullptr;
    /// The exact time alone; null if no algorithm has one.
    std::optional<sim::Time> (*closed_form)(const CollectiveCall&, const ScheduleOptions&,
                                            const LinkModel&) = nullptr;
    /// Lower bound of the algorithm; null if there is only `bound`.
    AlgorithmLoad (*load)(const CollectiveCall&) = nullptr;
    /// Upper bound of its time alone; null if none is proved.
    std::optional<sim::Time> (*latest)(const CollectiveCall&, const ScheduleOptions&,
                                       const LinkModel&) = nullptr;

    // Traffic of members. One of the two is null.

    LeastTraffic (*least_traffic)(double n, sim::Bytes v) = nullptr;  ///< of members that are alike
    EndTraffic (*end_traffic)(const CollectiveCall&) = nullptr;       ///< of others
    /// Bytes that links carry within a slice; null if the algorithm decides who sends which bytes
    /// to whom, and for operations with a root or two chips.
    LeastCarried (*carried)(const CollectiveCall&) = nullptr;
    /// Lower bound, as a fraction of V, of what members read and write in their memories, the mean
    /// over members (bounds.h).
    double (*least_memory)(double n) = nullptr;

    // Conventions of others, for members that are alike.

    /// The reference text's time (bounds.h), as a multiple of its time for an AllGather; for an
    /// AllToAll on one ring.
    double book_gathers = 0;
    /// Fraction of V that each group sends over DCN in the reference text's time between S slices.
    double (*book_between_slices)(double slices) = nullptr;

    // Bandwidths as nccl-tests count them (bandwidth.h).

    bool counts_one_rank = false;              ///< S is V / n
    double (*bus_factor)(double n) = nullptr;  ///< bus bandwidth over algorithm bandwidth
};

const OperationInfo& info(Operation operation);
/// Returns the rows in the order of the enumeration.
std::span<const OperationInfo> operation_rows();

}  // namespace podsim::collectives
