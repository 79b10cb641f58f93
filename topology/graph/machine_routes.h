// Routes over the links of a machine that are not the torus's alone: between slices, and to and from the
// memory of hosts.
//
// A route takes the fewest links (breadth-first search), of the nearest classes that lead there at all: traffic
// leaves a slice's own links only where they do not reach. All places are alike to the machine, so a route is a
// matter of displacement: its links are counted from its ends, and one search serves every place.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "topology/lattice/places.h"

namespace podsim::topology {

/// A directed link of a route, by the chip or host whose link it is.
struct RouteLink {
    std::uint32_t kind = 0;  ///< of link_kinds.h: the port
    /// Counted from the chip where the route ends, else from the one where it begins.
    bool from_destination = false;
    Point chips{};         ///< from that chip to the link's, or to one whose host the link's is
    bool of_host = false;  ///< the link is a host's, and the chips of that host share it

    friend bool operator==(const RouteLink&, const RouteLink&) = default;
};

using MachineRoute = std::vector<RouteLink>;

/// The routes of one machine.
class MachineRoutes {
public:
    /// Of slices with these chips (their number does not matter: the network joins all alike) and hosts.
    /// A folded lattice does as well as its slice as long as it holds whole hosts: the slice's translations by
    /// whole hosts map every link onto one of its kind.
    MachineRoutes(const Lattice& chips, const Point& host_shape);

    /// From a chip to the one at this displacement in another slice.
    MachineRoute to_other_slice(const Point& displacement);
    /// From a chip to its host's memory, and back.
    MachineRoute to_host();
    MachineRoute from_host();

    /// The chips of a slice that share a link of some route between slices, as a box that is laid over the slice
    /// from its origin: what folding must keep apart. {1, 1, 1} where every chip has links of its own.
    static Point chips_sharing_links(const Lattice& slice, const Point& host_shape);

private:
    struct Machine;
    struct Recorder;
    /// How a search from a vertex came to every other: the vertex before, and the kind of link.
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
