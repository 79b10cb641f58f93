// Displacements between positions, numbered in the order of their first use.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "collectives/vocabulary/host_direction.h"
#include "sim/workload/schedule.h"
#include "topology/graph/machine_routes.h"
#include "topology/lattice/places.h"

namespace podsim::collectives {

/// A displacement: a number of chips along each axis, and of ranks round a factor of the slices.
/// `to_host` goes on from there to the chip that stands for its host, the first of the host's box.
struct Shift {
    topology::Point chips{};
    topology::SliceFactor slices{};
    int ranks = 0;
    bool to_host = false;
};

class ShiftTable {
public:
    /// `host_box` is the shape of one host's chips in the slice (topology::Hosts::box). Hosts are
    /// laid over the places from the origin, so folded axes must hold whole hosts if hosts are
    /// used.
    explicit ShiftTable(const topology::Places& places,
                        const topology::Point& host_box = topology::Point{1, 1, 1})
        : places_(places), host_box_(host_box) {}

    [[nodiscard]] const topology::Places& places() const { return places_; }

    /// Returns the number of this displacement.
    std::uint32_t number(const topology::Point& displacement) {
        return number(Shift{.chips = displacement});
    }
    std::uint32_t number(const Shift& shift);
    /// Returns for each number in `other` that of the same displacement here.
    std::vector<std::uint32_t> numbers_of(const ShiftTable& other);

    /// Returns [shift][place] -> place, sim::kNoPlace beyond an edge, as sim::Machine::shifts holds
    /// it.
    [[nodiscard]] const std::vector<std::uint32_t>& table() const { return table_; }

    /// Adds the links from a place to the one at this displacement in another slice; returns their
    /// number.
    std::uint32_t add_route(const Shift& there, std::vector<sim::Hop>& hops);
    /// Adds the links between a place and its host's memory; returns their number.
    std::uint32_t add_host_route(HostDirection direction, std::vector<sim::Hop>& hops);
    /// Returns the links between places at the same point of two slices.
    int links_between_slices();

    /// True if a route uses links of chips to their hosts, or of hosts.
    [[nodiscard]] bool uses_hosts() const { return uses_hosts_; }
    /// Returns for each place its index within its host, as sim::Machine::index_at_shared holds it.
    /// Sources that share a destination's host lie in a row as long as the box. If whole hosts do
    /// not fill a wrapped axis, the row may pass its end, so the chips of the smaller last host are
    /// numbered after those of the box.
    [[nodiscard]] std::vector<std::uint8_t> index_in_host() const;

private:
    /// Chips, stride and length of the slices, ranks, to_host.
    using Key = std::array<int, topology::kAxes + 4>;

    [[nodiscard]] topology::MachineRoutes& routes();
    std::uint32_t add(const topology::MachineRoute& route, const Shift& there,
                      std::vector<sim::Hop>& hops);

    topology::Places places_;
    topology::Point host_box_;
    std::optional<topology::MachineRoutes> routes_;  ///< built on the first request of a route
    std::map<Key, std::uint32_t> numbers_;
    std::vector<std::uint32_t> table_;
    bool uses_hosts_ = false;
};

}  // namespace podsim::collectives
