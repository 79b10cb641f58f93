// How the links of messages lie to the places whose memories they read and write.
//
// Places that do the same read and write over links that lie alike. A way names such links for all of them: from the place over
// `hop_shift` to the link of the port of `row`, for what is read; for what is written back over `to_shift` to the message's source
// first. So shifts must lead from every place, and back: none over the edge of an axis that does not wrap, none from two places to one, as
// among mirror images.
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
    std::uint32_t to_shift = 0;   ///< from the source to the destination; of what is read nothing

    friend auto operator<=>(const StreamWay&, const StreamWay&) = default;
};

class StreamWays {
public:
    explicit StreamWays(const Machine& machine) : machine_(machine) {}

    /// Whether all shifts lead from every place, and no two places to one.
    [[nodiscard]] static bool lead_back(const Machine& machine);

    std::uint32_t number(const StreamWay& way);
    /// [source]: where the shift leads.
    [[nodiscard]] const std::uint32_t* destinations(std::uint32_t to_shift) const {
        return machine_.shifts.data() + to_shift * machine_.places;
    }
    /// From where the message comes that reads or writes the memory of the place so.
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
