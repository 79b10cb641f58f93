// Routes over links of a machine beyond the torus: between slices, and to and from the memory of
// hosts.
//
// A route takes the fewest links (breadth-first search) of the nearest classes that connect its
// ends: traffic leaves a slice's own links only if they do not reach. All places are alike to the
// machine, so a route depends on the displacement alone. Its links are counted from its ends, and
// one search serves every place.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "topology/lattice/places.h"

namespace podsim::topology {

/// A directed link of a route, by the chip or host that owns it.
struct RouteLink {
    std::uint32_t kind = 0;  ///< of link_kinds.h: the port
    /// True: counted from the chip at which the route ends, otherwise from the one at which it
    /// begins.
    bool from_destination = false;
    /// Displacement from that chip to the link's chip, or to a chip of the link's host.
    Point chips{};
    /// True: the link is a host's, and the chips of that host share it.
    bool of_host = false;

    friend bool operator==(const RouteLink&, const RouteLink&) = default;
};

using MachineRoute = std::vector<RouteLink>;

/// The routes of one machine.
class MachineRoutes {
public:
    /// Routes for slices with these chips and hosts; the number of slices does not matter, since
    /// the network joins all alike. A folded lattice serves like its slice as long as it holds
    /// whole hosts: the slice's translations by whole hosts map every link onto one of its kind.
    MachineRoutes(const Lattice& chips, const Point& host_shape);

    /// Returns the route from a chip to the one at this displacement in another slice.
    MachineRoute to_other_slice(const Point& displacement);
    /// Returns the route from a chip to its host's memory; from_host() returns the route back.
    MachineRoute to_host();
    MachineRoute from_host();

    /// Returns the chips of a slice that share a link of a route between slices, as a box that
    /// tiles the slice from its origin; folding must keep them apart. {1, 1, 1} if every chip has
    /// links of its own.
    static Point chips_sharing_links(const Lattice& slice, const Point& host_shape);

private:
    struct Machine;
    struct Recorder;
    /// The last step of a search to a vertex: the vertex before, and the kind of link.
    struct Step {
        std::uint32_t from = 0;
        std::uint8_t kind = 0;
    };
    using Tree = std::vector<Step>;

    MachineRoute route(std::uint32_t from, std::uint32_t to);
    const Tree& search(std::uint32_t from, unsigned classes);

    std::shared_ptr<const Machine> machine_;
    std::map<std::pair<std::uint32_t, unsigned>, Tree> trees_;
};

}  // namespace podsim::topology
