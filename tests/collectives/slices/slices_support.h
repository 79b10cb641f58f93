// Support of the tests of collectives across slices:
// one collective on its own, with ICI, PCIe and DCN.
#pragma once

#include <string>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/collective_support.h"
#include "topology/lattice/places.h"

namespace podsim::collectives {

/// One collective, alone on several slices.
struct SlicesCase {
    /// Operation, slice, group within it, algorithm, sizes, ICI links and their rule.
    Case within;
    topology::SliceFactor across;
    int slices = 2;
    topology::Point host_box{1, 1, 1};
    sim::LinkSpec pcie;
    sim::LinkSpec dcn;  ///< of a host; latency counts once

    [[nodiscard]] Members members() const { return {within.group, across}; }
    [[nodiscard]] CollectiveCall call() const {
        CollectiveCall call = within.call();
        call.members = members();
        return call;
    }
    [[nodiscard]] topology::Places whole() const { return {within.slice, slices}; }
    [[nodiscard]] topology::Places folded() const;
    [[nodiscard]] SliceLinks links() const;
};

std::string describe(const SlicesCase& c);

Outcome run_on(const topology::Places& places, const SlicesCase& c, const Attach& attach = {});

/// Returns a case with random slices, hosts, factors of
/// the slices, groups (also empty), operations and links.
SlicesCase random_slices_case(Random& random, int longest, int most_chips, int most_slices);

}  // namespace podsim::collectives
