// Routes from places to the links whose messages read and write their memories.
//
// Places that do the same use links at the same relative position. A StreamWay names such links for
// all of them. A read goes from the place over `hop_shift` to the link of the port of `row`. A
// write first goes back over `to_shift` to the message's source. So every shift must be invertible:
// none over the edge of an axis that does not wrap, none from two places to one, as among mirror
// images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/workload/machine.h"

namespace podsim::sim {

struct StreamWay {
    bool writes = false;
    std::uint32_t row = 0;        ///< the link's number, less that of its place
    std::uint32_t hop_shift = 0;  ///< from the source to the link's place
    std::uint32_t to_shift = 0;   ///< from source to destination; 0 for reads

    friend auto operator<=>(const StreamWay&, const StreamWay&) = default;
};

class StreamWays {
public:
    explicit StreamWays(const Machine& machine) : machine_(machine) {}

    /// True if every shift leads from every place, and no two places to one.
    [[nodiscard]] static bool lead_back(const Machine& machine);

    std::uint32_t number(const StreamWay& way);
    /// Returns [source]: the place to which the shift leads.
    [[nodiscard]] const std::uint32_t* destinations(std::uint32_t to_shift) const {
        return machine_.shifts.data() + to_shift * machine_.places;
    }
    /// Returns the source of the message that uses the place's memory by this route.
    [[nodiscard]] std::uint32_t source(std::uint32_t way, std::uint32_t place) const {
        return ways_[way].writes ? back_[way][place] : place;
    }
    [[nodiscard]] std::uint32_t link(std::uint32_t way, std::uint32_t place) const {
        return ways_[way].row + machine_.shifted(ways_[way].hop_shift, source(way, place));
    }

private:
    const Machine& machine_;
    std::map<StreamWay, std::uint32_t> numbers_;
    std::vector<StreamWay> ways_;
    std::vector<std::vector<std::uint32_t>> back_;  ///< [way][destination]: the source
};

}  // namespace podsim::sim
