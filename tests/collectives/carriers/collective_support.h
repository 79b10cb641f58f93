// What the collective tests share: one collective on its own, run through the kernel on any lattice
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

/// On a chip of the catalogue: a slice that it offers, its links; over the axes of the bits.
Case on_chip(const char* chip, const topology::Point& shape, Operation operation, unsigned axes,
             double v);

/// AllGather, ReduceScatter and AllReduce, and the algorithms that carry out all of them.
const std::vector<Operation>& gathering_operations();
const std::vector<AlgorithmInfo>& gathering_algorithms();

/// Everything that a failure message needs to repeat the case by hand.
std::string describe(const Case& c);
inline void PrintTo(const Case& c, std::ostream* out) {
    *out << describe(c);
}

struct Outcome {
    CollectiveSchedule built;
    sim::Workload workload;  ///< its one schedule is built.schedule
    sim::ExecutionResult result;
};

/// Sees the schedule before the run begins, may watch the run and may change the machine.
using Attach = std::function<sim::Observer*(const CollectiveSchedule&, sim::Workload&)>;

/// Runs the case on `places` (the slice itself, or what it folds to). Every run is held to checks.h.
Outcome run_on(const topology::Lattice& places, const Case& c, const Attach& attach = {});

using topology::box;
using topology::Random;

/// The algorithm that `auto` takes for the case, by folded runs.
Algorithm picked(const Case& c);

/// The twisted torus k x k x 2k or k x 2k x 2k.
topology::Lattice twisted(const topology::Point& lengths);

/// The group of whole axes of a slice (axes of length 1 left out); bit a of `axes` takes axis a.
Group whole_axes(const topology::Lattice& slice, unsigned axes = 7);

/// A group merged, without factors of length 1, and sorted: as DeviceMesh::group returns it.
Group normalised(Group group);

/// Lengths from 1 to `longest`, at most `most` chips, each axis wrapped or not.
topology::Lattice random_slice(Random& random, int longest, int most);

/// A group of at least two members where the slice has any: whole axes, blocks, strides, products.
Group random_group(Random& random, const topology::Lattice& slice);

/// A case with random slice, group, operation, algorithm, sizes and links; latency zero and infinite
/// rates among them.
Case random_case(Random& random, int longest, int most);

}  // namespace podsim::collectives
