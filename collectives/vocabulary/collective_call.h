// One call of a collective: the operation, its slice, members, algorithm and bytes.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/group.h"
#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// The members that an operation runs between, if they are not all alike. A root stands for its
/// position in the group: every group runs the operation at once, from the member at that position.
struct Ends {
    /// The root of a broadcast, gather or scatter; for a send, the chip that sends.
    topology::Point root{};
    topology::Point to{};  ///< of a send
    int shift = 1;         ///< of a permute; ranks count the chips of a group with z fastest
    /// For an AllToAll: what each member takes from every other (`returning`: gives to every other)
    /// over the mean, by rank; empty if all are alike.
    std::vector<double> loads{};
    bool returning = false;
};

/// The operation, on every group of the slice (or of each of several) at once.
struct CollectiveCall {
    Operation operation{};
    topology::Lattice slice{};
    Members members{};  ///< empty for a send, which is among all chips
    /// V, the array as it is when complete within one group: AllGather's output, the input of
    /// ReduceScatter and AllReduce, the whole array of an AllToAll, of which each of the n members
    /// holds V / n.
    sim::Bytes bytes{};
    Algorithm algorithm = Algorithm::automatic;
    Ends ends{};

    [[nodiscard]] const Group& group() const { return members.group; }
};

/// Lower bounds of the bytes of members that are all alike.
struct LeastTraffic {
    sim::Bytes receive{};  ///< bytes that each member must receive
    sim::Bytes send{};     ///< bytes that each member must send
    sim::Bytes mean{};     ///< mean over members of the bytes to receive

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

/// Lower bound of what the traffic between given chips puts on the links of a slice, by any routes.
struct LeastCarried {
    sim::Bytes all{};  ///< on the links of one chip, the mean over chips
    /// The same on the links of each axis; zero in twisted slices, where equally short routes take
    /// other axes.
    std::array<sim::Bytes, topology::kAxes> on_axis{};
    /// Bytes on the links of an axis that does not wrap, the mean over its lines: [chip along it]
    /// up from there to the next chip, and down from that.
    std::array<std::vector<double>, topology::kAxes> up{};
    std::array<std::vector<double>, topology::kAxes> down{};
};

/// Bytes that the ends of an operation must send or receive, if members are not alike.
struct EndTraffic {
    sim::Bytes bytes{};
    int links = 1;        ///< usable at once, at the end that has fewest
    int longest_way = 0;  ///< in links
};

}  // namespace podsim::collectives
