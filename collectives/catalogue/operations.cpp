#include "collectives/catalogue/operations.h"

#include <array>
#include <cstddef>
#include <string>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/algorithms/broadcast.h"
#include "collectives/algorithms/gather_scatter.h"
#include "collectives/algorithms/permute.h"
#include "collectives/algorithms/reduce_broadcast.h"
#include "collectives/algorithms/ring_times.h"
#include "collectives/algorithms/rings.h"
#include "collectives/algorithms/send.h"
#include "collectives/paths/factors.h"
#include "collectives/paths/group_graph.h"
#include "sim/base/nearest.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {
namespace {

using Algorithms = std::vector<Algorithm>;

// Algorithms.

template <Algorithm... algorithm>
Algorithms these(const CollectiveCall& /*call*/) {
    return {algorithm...};
}

Algorithms gathering_candidates(const CollectiveCall& call) {
    Algorithms list{fastest_for_large(call.group())};
    if (call.group().size() > 1) {
        list.push_back(Algorithm::equal_parts);
    }
    return list;
}

Algorithms all_reduce_candidates(const CollectiveCall& call) {
    Algorithms list = gathering_candidates(call);
    if (has_line(call.slice, call.group()) && group_size(call.group()) > 2) {
        list.insert(list.begin(), Algorithm::reduce_broadcast);
    }
    list.push_back(Algorithm::one_shot);
    return list;
}

Algorithms all_reduce_algorithms(const CollectiveCall& call) {
    Algorithms list{Algorithm::one_way, Algorithm::two_way, Algorithm::equal_parts,
                    Algorithm::weighted, Algorithm::one_shot};
    if (has_line(call.slice, call.group())) {
        list.push_back(Algorithm::reduce_broadcast);
    }
    return list;
}

CollectiveSchedule build_any_all_reduce(const CollectiveCall& call, const ScheduleOptions& options,
                                        ShiftTable& shifts) {
    return call.algorithm == Algorithm::reduce_broadcast
               ? build_reduce_broadcast(call, options, shifts)
               : build_all_reduce(call, options, shifts);
}

AlgorithmLoad all_reduce_load(const CollectiveCall& call) {
    return call.algorithm == Algorithm::reduce_broadcast ? AlgorithmLoad{} : load_twice(call);
}

// Folded places.

topology::Lattice places_alike(const CollectiveCall& call) {
    return topology::fold(call.slice, std::array{call.group()});
}

topology::Lattice places_distinct(const CollectiveCall& call) {
    return distinct_places(call.slice, call.group());
}

topology::Lattice places_of_all_to_all(const CollectiveCall& call) {
    return call.ends.loads.empty() ? places_alike(call) : places_distinct(call);
}

topology::Lattice places_of_permute(const CollectiveCall& call) {
    return moves_alike(call) ? places_alike(call) : places_distinct(call);
}

topology::Lattice places_of_slice(const CollectiveCall& call) {
    return call.slice;
}

// Factors of n members or S slices.

double once(double /*count*/) {
    return 1;
}
double twice(double /*count*/) {
    return 2;
}
double others(double n) {
    return (n - 1) / n;
}
double others_twice(double n) {
    return 2 * (n - 1) / n;
}
/// Fraction of V through the memory of a member (bounds.h).
double memory_of_reduce_scatter(double n) {
    return 3 - 1 / n;
}
double memory_of_all_reduce(double n) {
    return 4 - 2 / n;
}
double memory_of_permute(double n) {
    return 2 / n;
}
/// n - 1 of n^2 blocks are read and written: those of a member, or of all others at a root.
double memory_of_blocks(double n) {
    return 2 * (n - 1) / n / n;
}
/// (S - 1) V / S^2 leave a slice.
double pairs_between(double slices) {
    return (slices - 1) / slices / slices;
}

constexpr std::array kRows{
    OperationInfo{.operation = Operation::all_gather,
                  .name = "all-gather",
                  .summary = "every member's share to all",
                  .candidates = gathering_candidates,
                  .algorithms = these<Algorithm::one_way, Algorithm::two_way,
                                      Algorithm::equal_parts, Algorithm::weighted>,
                  .build = build_all_gather,
                  .places = places_alike,
                  .within_slices = Operation::all_gather,
                  .bound = all_gather_bound,
                  .closed_form = time_once,
                  .load = load_once,
                  .latest = latest_end,
                  .least_traffic = all_gather_traffic,
                  .least_memory = once,
                  .book_gathers = 1,
                  .book_between_slices = once,
                  .bus_factor = others},
    OperationInfo{.operation = Operation::reduce_scatter,
                  .name = "reduce-scatter",
                  .summary = "the members' arrays summed, a share to each",
                  .candidates = gathering_candidates,
                  .algorithms = these<Algorithm::one_way, Algorithm::two_way,
                                      Algorithm::equal_parts, Algorithm::weighted>,
                  .build = build_reduce_scatter,
                  .places = places_alike,
                  .within_slices = Operation::reduce_scatter,
                  .bound = reduce_scatter_bound,
                  .closed_form = time_once,
                  .load = load_once,
                  .latest = latest_end,
                  .least_traffic = reduce_scatter_traffic,
                  .least_memory = memory_of_reduce_scatter,
                  .book_gathers = 1,
                  .book_between_slices = once,
                  .bus_factor = others},
    OperationInfo{.operation = Operation::all_reduce,
                  .name = "all-reduce",
                  .summary = "the members' arrays summed, all of it to each",
                  .candidates = all_reduce_candidates,
                  .algorithms = all_reduce_algorithms,
                  .build = build_any_all_reduce,
                  .places = places_alike,
                  // The AllReduce is a ReduceScatter and an AllGather, by the same parts.
                  .within_slices = Operation::all_gather,
                  .bound = all_reduce_bound,
                  .closed_form = time_twice,
                  .load = all_reduce_load,
                  .least_traffic = all_reduce_traffic,
                  .least_memory = memory_of_all_reduce,
                  .book_gathers = 2,
                  .book_between_slices = twice,
                  .bus_factor = others_twice},
    OperationInfo{.operation = Operation::all_to_all,
                  .name = "all-to-all",
                  .summary = "a part of every member's share to each",
                  .routed = true,
                  .carried_by = "shortest routes",
                  .candidates = these<Algorithm::shortest>,
                  .algorithms = these<Algorithm::shortest, Algorithm::one_way>,
                  .build = build_all_to_all,
                  .places = places_of_all_to_all,
                  .within_slices = Operation::all_to_all,
                  .bound = busiest_link,
                  .least_traffic = all_to_all_traffic,
                  .carried = all_to_all_carried,
                  .least_memory = memory_of_blocks,
                  .book_gathers = 1.0 / 4,
                  .book_between_slices = pairs_between,
                  .counts_one_rank = true,
                  .bus_factor = others},
    OperationInfo{.operation = Operation::permute,
                  .name = "permute",
                  .summary = "every member's share to the member some ranks further",
                  .ends = EndsTaken::shift,
                  .routed = true,
                  .carried_by = "shortest routes",
                  .candidates = these<Algorithm::both_ways>,
                  .algorithms = these<Algorithm::both_ways, Algorithm::shortest>,
                  .build = build_permute,
                  .places = places_of_permute,
                  .bound = permute_bound,
                  .end_traffic = permute_traffic,
                  .carried = permute_carried,
                  .least_memory = memory_of_permute,
                  .counts_one_rank = true,
                  .bus_factor = once},
    OperationInfo{.operation = Operation::send,
                  .name = "send",
                  .summary = "an array from one chip to another",
                  .ends = EndsTaken::two_chips,
                  .routed = true,
                  .carried_by = "routes",
                  .candidates = these<Algorithm::disjoint_routes>,
                  .algorithms = these<Algorithm::disjoint_routes>,
                  .build = build_send,
                  .places = places_of_slice,
                  .bound = send_bound,
                  .closed_form = send_closed_form,
                  .end_traffic = send_traffic,
                  .least_memory = once,
                  .bus_factor = once},
    OperationInfo{.operation = Operation::broadcast,
                  .name = "broadcast",
                  .summary = "an array from one member to all",
                  .ends = EndsTaken::root,
                  .routed = true,
                  .carried_by = "trees",
                  .candidates = these<Algorithm::disjoint_trees>,
                  .algorithms = these<Algorithm::disjoint_trees>,
                  .build = build_broadcast,
                  .places = places_distinct,
                  .bound = broadcast_bound,
                  .closed_form = broadcast_closed_form,
                  .end_traffic = broadcast_traffic,
                  .least_memory = once,
                  .bus_factor = once},
    OperationInfo{.operation = Operation::gather,
                  .name = "gather",
                  .summary = "every member's share to one member",
                  .ends = EndsTaken::root,
                  .towards_root = true,
                  .routed = true,
                  .carried_by = "routes",
                  .candidates = these<Algorithm::balanced_routes>,
                  .algorithms = these<Algorithm::balanced_routes>,
                  .build = build_gather,
                  .places = places_distinct,
                  .bound = spread_bound,
                  .end_traffic = spread_traffic,
                  .least_memory = memory_of_blocks,
                  .bus_factor = others},
    OperationInfo{.operation = Operation::scatter,
                  .name = "scatter",
                  .summary = "to every member its share from one member",
                  .ends = EndsTaken::root,
                  .routed = true,
                  .carried_by = "routes",
                  .candidates = these<Algorithm::balanced_routes>,
                  .algorithms = these<Algorithm::balanced_routes>,
                  .build = build_scatter,
                  .places = places_distinct,
                  .bound = spread_bound,
                  .end_traffic = spread_traffic,
                  .least_memory = memory_of_blocks,
                  .bus_factor = others}};

constexpr std::array kOperations = [] {
    std::array<Operation, kRows.size()> operations{};
    for (std::size_t row = 0; row < kRows.size(); ++row) {
        operations[row] = kRows[row].operation;
    }
    return operations;
}();

/// Returns the row of an operation; one without a row does not compile.
template <Operation operation>
constexpr std::size_t row_of() {
    constexpr auto found = std::ranges::find(kRows, operation, &OperationInfo::operation);
    static_assert(found != kRows.end(), "the operation has no row");
    return static_cast<std::size_t>(found - kRows.begin());
}

/// Returns the row of an operation. Its switch has every enumerator, or -Wswitch refuses it.
constexpr std::size_t row_of(Operation operation) {
    switch (operation) {
        case Operation::all_gather:
            return row_of<Operation::all_gather>();
        case Operation::reduce_scatter:
            return row_of<Operation::reduce_scatter>();
        case Operation::all_reduce:
            return row_of<Operation::all_reduce>();
        case Operation::all_to_all:
            return row_of<Operation::all_to_all>();
        case Operation::permute:
            return row_of<Operation::permute>();
        case Operation::send:
            return row_of<Operation::send>();
        case Operation::broadcast:
            return row_of<Operation::broadcast>();
        case Operation::gather:
            return row_of<Operation::gather>();
        case Operation::scatter:
            return row_of<Operation::scatter>();
    }
    return kRows.size();
}

}  // namespace

const OperationInfo& info(Operation operation) {
    return kRows.at(row_of(operation));
}

std::span<const OperationInfo> operation_rows() {
    return kRows;
}

std::string_view to_string(Operation operation) {
    return info(operation).name;
}

Operation parse_operation(std::string_view text) {
    std::vector<std::string> names;
    for (const OperationInfo& row : kRows) {
        if (row.name == text) {
            return row.operation;
        }
        names.emplace_back(row.name);
    }
    throw sim::unknown_name("operation", text, names);
}

std::span<const Operation> all_operations() {
    return kOperations;
}

}  // namespace podsim::collectives
