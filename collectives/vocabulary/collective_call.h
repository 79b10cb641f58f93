// One collective as it is called: what is done, on which slice, by whom, how, with how many bytes.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/group.h"
#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// Which members an operation is between, where they are not all alike. A root stands for its place
/// in the group: every group does the same at once, from the member at that place.
struct Ends {
    topology::Point root{};  ///< of a broadcast, gather or scatter; of a send the chip that sends
    topology::Point to{};    ///< of a send
    int shift = 1;           ///< of a permute; ranks count the chips of a group with z fastest
    /// Of an AllToAll: what each member takes from every other (`returning`: gives to every other), over the mean,
    /// by rank; empty: all alike.
    std::vector<double> loads{};
    bool returning = false;
};

/// The operation, on every group of the slice (or of each of several) at once.
struct CollectiveCall {
    Operation operation{};
    topology::Lattice slice{};
    Members members{};  ///< of a send: empty, since it is among all chips
    /// V, the array as it is when complete within one group: AllGather's output, ReduceScatter's and AllReduce's
    /// input, the whole array of an AllToAll, of which each of the n members holds V / n.
    sim::Bytes bytes{};
    Algorithm algorithm = Algorithm::automatic;
    Ends ends{};

    [[nodiscard]] const Group& group() const { return members.group; }
};

/// The least bytes of members that are all alike.
struct LeastTraffic {
    sim::Bytes receive{};  ///< that each member must receive
    sim::Bytes send{};     ///< that each member must send
    sim::Bytes mean{};     ///< over members, of what they must receive

    LeastTraffic& operator+=(const LeastTraffic& more) {
        receive += more.receive;
        send += more.send;
        mean += more.mean;
        return *this;
    }
    friend LeastTraffic operator*(const LeastTraffic& one, double times) {
        return {.receive = one.receive * times, .send = one.send * times, .mean = one.mean * times};
    }
};

/// What goes from given chips to given others puts on the links of a slice at the least, by whatever ways.
struct LeastCarried {
    sim::Bytes all{};  ///< on the links of one chip, the mean over chips
    /// Of it on the links of each axis. Nothing in twisted slices, where ways as short take other axes.
    std::array<sim::Bytes, topology::kAxes> on_axis{};
    /// On the links of an axis that does not wrap, the mean over its lines: [chip along it] up from there to the next chip, and
    /// down from that.
    std::array<std::vector<double>, topology::kAxes> up{};
    std::array<std::vector<double>, topology::kAxes> down{};
};

/// What the ends of an operation must send or receive, where members are not alike.
struct EndTraffic {
    sim::Bytes bytes{};
    int links = 1;        ///< that they can take at once, at the end that has fewest
    int longest_way = 0;  ///< in links
};

}  // namespace podsim::collectives
