// Support of the collective tests: one collective on its own, run through the kernel on any lattice
// of places, and seeded choices of slices and groups.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/algorithms/messages.h"
#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/closed_form.h"
#include "collectives/catalogue/operations.h"
#include "collectives/paths/factors.h"
#include "sim/executor/executor.h"
#include "tests/topology/lattice_support.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// One collective, alone on a slice.
struct Case {
    Operation operation{};
    topology::Lattice slice;
    Group group;
    Algorithm algorithm{};
    sim::Bytes v;
    ScheduleOptions options;
    LinkModel link;
    Ends ends;

    [[nodiscard]] CollectiveCall call() const {
        return {.operation = operation,
                .slice = slice,
                .members = {group},
                .bytes = v,
                .algorithm = algorithm,
                .ends = ends};
    }
};

/// Returns a case on a chip of the catalogue, with its links and a slice that it offers, over the
/// axes whose bits are set.
Case on_chip(const char* chip, const topology::Point& shape, Operation operation, unsigned axes,
             double v);

/// AllGather, ReduceScatter and AllReduce, and the algorithms that carry out all of them.
const std::vector<Operation>& gathering_operations();
const std::vector<AlgorithmInfo>& gathering_algorithms();

/// Returns the settings that repeat the case by hand, for failure messages.
std::string describe(const Case& c);
inline void PrintTo(const Case& c, std::ostream* out) {
    *out << describe(c);
}

struct Outcome {
    CollectiveSchedule built;
    sim::Workload workload;  ///< its one schedule is built.schedule
    sim::ExecutionResult result;
};

/// Receives the schedule before the run begins, may return
/// an observer of the run and may change the machine.
using Attach = std::function<sim::Observer*(const CollectiveSchedule&, sim::Workload&)>;

/// Runs the case on `places`: the slice itself, or
/// its fold. Every run passes the checks of checks.h.
Outcome run_on(const topology::Lattice& places, const Case& c, const Attach& attach = {});

using topology::box;
using topology::Random;

/// Returns the algorithm that `auto` takes for the case, by folded runs.
Algorithm picked(const Case& c);

/// Returns the twisted torus k x k x 2k or k x 2k x 2k.
topology::Lattice twisted(const topology::Point& lengths);

/// Returns the group of whole axes of a slice, without
/// axes of length 1; bit a of `axes` takes axis a.
Group whole_axes(const topology::Lattice& slice, unsigned axes = 7);

/// Returns the group merged, without factors of length
/// 1, and sorted, as DeviceMesh::group returns it.
Group normalised(Group group);

/// Returns a slice with lengths from 1 to `longest`
/// and at most `most` chips, each axis wrapped or not.
topology::Lattice random_slice(Random& random, int longest, int most);

/// Returns a group of at least two members if the slice
/// has any: whole axes, blocks, strides, products.
Group random_group(Random& random, const topology::Lattice& slice);

/// Returns a case with random slice, group, operation, algorithm, sizes and links, which include
/// zero latency and infinite rates.
Case random_case(Random& random, int longest, int most);

}  // namespace podsim::collectives
