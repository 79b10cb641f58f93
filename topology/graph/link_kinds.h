// The kinds of links of a machine, with their class, rate, latency and sources.
//
// A machine of slices has the kinds below, numbered as the ports of a chip. Six are of the torus.
// The others lie between the chip and its host, between its host and the network, and between the
// chip and its HBM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.h"
#include "topology/chips/chip.h"
#include "topology/lattice/lattice.h"

namespace podsim::topology {

/// Classes of links, from the nearest to the farthest.
enum class LinkClass : std::uint8_t { hbm, ici, pcie, dcn };
inline constexpr std::size_t kLinkClasses = 4;

/// Returns `hbm`, `ici`, `pcie` or `dcn`.
std::string_view to_string(LinkClass link_class);

struct LinkKind {
    LinkClass link_class{};
    std::string name;
    Sourced<sim::BytesPerSecond> rate;  ///< of one directed link
    Sourced<sim::Seconds> latency;
    /// True: the two links of a pair share the rate (it bounds an HBM's reads plus writes).
    bool rate_is_of_pair = false;
};

/// Returns the kind of the torus's links along `axis` in `direction` (+1 or -1): 2 axis, or 2 axis
/// + 1.
constexpr std::uint32_t port_of(int axis, int direction) {
    return static_cast<std::uint32_t>(2 * axis + (direction < 0 ? 1 : 0));
}
constexpr int axis_of(std::uint32_t ici_port) {
    return static_cast<int>(ici_port / 2);
}
constexpr int direction_of(std::uint32_t ici_port) {
    return ici_port % 2 == 0 ? 1 : -1;
}
inline constexpr std::size_t kIciPorts = std::size_t{2} * kAxes;

inline constexpr std::uint32_t kPcieToHost = 6;
inline constexpr std::uint32_t kPcieToChip = 7;
inline constexpr std::uint32_t kDcnOut = 8;  ///< of the host
inline constexpr std::uint32_t kDcnIn = 9;   ///< of the host
inline constexpr std::uint32_t kHbmRead = 10;
inline constexpr std::uint32_t kHbmWrite = 11;
inline constexpr std::size_t kLinkKinds = 12;

/// Returns those kinds at the chip's rates. The network's latency is counted once, on the link out
/// to it. A host's rate to the network is divided by `oversubscription`.
std::vector<LinkKind> link_kinds(const ChipSpec& chip, IciRates rates = IciRates::book,
                                 double oversubscription = 1);

/// Returns those kinds without rates, for callers that only need the shape of the machine.
std::vector<LinkKind> link_kinds();

}  // namespace podsim::topology
