// The operations, one row each: what is to be known of an operation is a field of its row.
//
// A new operation is a name in vocabulary/operation.h, its own pair of files in algorithms/ and a row in
// operations.cpp; tests/collectives/catalogue/operations_test.cpp loops over the rows.
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

/// What an operation takes of Ends: where that is something, members are not alike, and it stays within a slice.
enum class EndsTaken {
    none,
    shift,
    root,       ///< of every group the member at one place
    two_chips,  ///< `root` and `to`; the operation is among all chips and has no group
};

struct OperationInfo {
    Operation operation{};
    std::string_view name;
    std::string_view summary;
    EndsTaken ends = EndsTaken::none;
    bool towards_root = false;  ///< of EndsTaken::root: bytes go to the root, not from it
    /// Bytes are sent from member to member on routes laid beforehand, which do not go round dead links, and between
    /// slices straight away. Other operations pass them on along rings and lines.
    bool routed = false;
    std::string_view carried_by{};  ///< of what is routed: what carries the bytes, in reports

    // How it is carried out. In calls to `build` and those below `algorithm` is resolved (resolve.h).

    /// What `automatic` chooses from (choose_algorithm.h), the one for the largest arrays first.
    std::vector<Algorithm> (*candidates)(const CollectiveCall&) = nullptr;
    /// All that carry it out within a slice.
    std::vector<Algorithm> (*algorithms)(const CollectiveCall&) = nullptr;
    CollectiveSchedule (*build)(const CollectiveCall&, const ScheduleOptions&,
                                ShiftTable&) = nullptr;
    /// What the slice folds to: topology::fold, but no folding within a group whose members are not alike.
    topology::Lattice (*places)(const CollectiveCall&) = nullptr;
    /// What it is within each slice when its group has members in several.
    Operation within_slices{};

    // Times, of groups within a slice. None is asked for a group of one member, which needs no time.

    /// Bytes that the busiest link carries at the least.
    sim::Bytes (*bound)(const CollectiveCall&) = nullptr;
    /// The exact time alone; null where no algorithm has one.
    std::optional<sim::Time> (*closed_form)(const CollectiveCall&, const ScheduleOptions&,
                                            const LinkModel&) = nullptr;
    /// What the algorithm needs at the least; null where only `bound` is known.
    AlgorithmLoad (*load)(const CollectiveCall&) = nullptr;
    /// What a run of it alone surely does not exceed; null where nothing is shown of it.
    std::optional<sim::Time> (*latest)(const CollectiveCall&, const ScheduleOptions&,
                                       const LinkModel&) = nullptr;

    // What members move. One of the two is null.

    LeastTraffic (*least_traffic)(double n, sim::Bytes v) = nullptr;  ///< of members that are alike
    EndTraffic (*end_traffic)(const CollectiveCall&) = nullptr;       ///< of others
    /// What links carry within a slice; null where who sends what to whom is left to the algorithm, and of operations with a root or two chips.
    LeastCarried (*carried)(const CollectiveCall&) = nullptr;
    /// Of V, what members read and write of their memories at the least, the mean over members (bounds.h).
    double (*least_memory)(double n) = nullptr;

    // Conventions of others, for members that are alike.

    /// The reference text's time (bounds.h), as a multiple of its time for an AllGather; of an AllToAll on one ring.
    double book_gathers = 0;
    /// Of V, what each group sends over DCN in the reference text's time between S slices.
    double (*book_between_slices)(double slices) = nullptr;

    // Bandwidths as nccl-tests count them (bandwidth.h).

    bool counts_one_rank = false;              ///< S is V / n
    double (*bus_factor)(double n) = nullptr;  ///< bus bandwidth over algorithm bandwidth
};

const OperationInfo& info(Operation operation);
/// In the order of the enumeration.
std::span<const OperationInfo> operation_rows();

}  // namespace podsim::collectives
