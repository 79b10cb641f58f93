// Carries data through a run of the simulator, exactly as Payload describes it: every message takes
// the value that its sender holds when it leaves, and delivers it where it arrives.
//
// The data of one part and chunk is a row of cells: for every member of the group a slot of `units`
// cells, with the members in the order of the part (its first factor fastest), so that a member's
// cells before any gather phase are contiguous. A cell's value is the set of members whose
// contributions it holds (bit = rank in the group). AllGather moves the home's bit; a reduction
// adds one bit of every member. Adding a set that overlaps counts a contribution twice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

class DataCarrier : public sim::Observer {
public:
    /// For unfolded runs, whose places are the chips
    /// of the slice, and groups of at most 64 members.
    DataCarrier(const Case& c, const CollectiveSchedule& built);

    void transfer_fired(sim::OperationId op, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override;
    void transfer_arrived(sim::OperationId op, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override;

    /// Checks, after the run, that every member holds the data that the operation promises.
    void check_result();

    /// The first error; empty if there is none.
    [[nodiscard]] const std::string& error() const { return error_; }
    /// Bytes that have arrived at each place.
    [[nodiscard]] const std::vector<double>& received() const { return received_; }

private:
    using Set = std::uint64_t;
    struct Cells {
        std::size_t row = 0;  ///< of part and chunk
        std::size_t first = 0;
        std::size_t last = 0;
    };

    [[nodiscard]] const topology::AxisFactor& factor(std::size_t index) const;
    [[nodiscard]] int digit(std::size_t place, std::size_t factor_index) const;
    [[nodiscard]] std::size_t stage(const Payload& payload) const;
    [[nodiscard]] std::size_t held_before(std::size_t part, std::size_t stage) const;
    [[nodiscard]] std::size_t slot(std::size_t part, std::size_t place) const;
    [[nodiscard]] Cells cells(const Payload& payload, std::size_t sender);
    [[nodiscard]] Set& gathered(std::size_t row, std::size_t place, std::size_t cell);
    [[nodiscard]] Set& sum(std::size_t row, std::size_t phase, bool backward, std::size_t place,
                           std::size_t cell);
    [[nodiscard]] Set reduced(std::size_t row, std::size_t phases, std::size_t place,
                              std::size_t cell);
    [[nodiscard]] Set holds(std::size_t row, std::size_t place, std::size_t cell);
    [[nodiscard]] Set promised(std::size_t row, std::size_t cell) const;
    [[nodiscard]] Set add(Set a, Set b, const char* where);
    void fail(const std::string& what);

    const Case& case_;
    const CollectiveSchedule& built_;
    std::size_t members_ = 1;
    std::size_t places_ = 1;
    std::size_t units_ = 1;  ///< cells of one member's slot
    std::size_t row_cells_ = 1;
    std::size_t stages_ = 0;  ///< factors of the group
    std::vector<std::size_t> rank_;
    std::vector<std::size_t> group_;
    std::vector<std::vector<Set>> gathered_;           ///< [row][place, cell]
    std::vector<std::vector<std::vector<Set>>> sums_;  ///< [row][phase, direction][place, cell]
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Set>> on_the_way_;
    std::vector<double> received_;
    std::string error_;
};

}  // namespace podsim::collectives
