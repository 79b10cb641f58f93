// Carries data over a whole twisted slice, where rings are walked modulo the blocks gathered so
// far.
//
// Before its gather along the s-th axis of a part's order a member m holds the blocks of all homes
// m + H, where H is the subgroup that the axes before generate. A message carries a range of the
// cells of such a coset, its homes in ascending order: every member of the coset finds the same
// range. A cell's value is the set of members whose contributions it holds.
#pragma once

#include <bitset>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

class TwistedCarrier : public sim::Observer {
public:
    static constexpr std::size_t kMostMembers = 256;

    /// For unfolded runs of AllGather, ReduceScatter and AllReduce over the whole slice.
    TwistedCarrier(const Case& c, const CollectiveSchedule& built);

    void transfer_fired(sim::OperationId op, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override;
    void transfer_arrived(sim::OperationId op, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override;

    /// Checks, after the run, that every member holds the data that the operation promises.
    void check_result();

    /// The first error; empty if there is none.
    [[nodiscard]] const std::string& error() const { return error_; }
    /// Bytes that have arrived at each chip.
    [[nodiscard]] const std::vector<double>& received() const { return received_; }

private:
    using Set = std::bitset<kMostMembers>;
    /// A value for every cell of every home at every chip, allocated at the first write.
    using Values = std::vector<Set>;

    [[nodiscard]] std::size_t stage(const Payload& payload) const;
    /// Returns the chips whose blocks a member holds before the gather stage, ascending.
    [[nodiscard]] const std::vector<std::size_t>& coset(std::size_t part, std::size_t stage,
                                                        std::size_t chip) const {
        return cosets_[part][stage][chip];
    }
    [[nodiscard]] std::vector<std::size_t> cells(const Payload& payload, std::size_t sender);
    [[nodiscard]] std::size_t row(const Payload& payload) const {
        return payload.part * static_cast<std::size_t>(built_.chunks) + payload.chunk;
    }
    Set& at(Values& values, std::size_t chip, std::size_t cell);
    [[nodiscard]] Set reduced(std::size_t row, std::size_t phases, std::size_t chip,
                              std::size_t cell);
    [[nodiscard]] Set holds(std::size_t row, std::size_t chip, std::size_t cell);
    [[nodiscard]] Set promised(std::size_t cell) const;
    [[nodiscard]] Set add(const Set& a, const Set& b, const char* where);
    [[nodiscard]] std::size_t neighbour(std::size_t chip, int factor, int steps) const;
    void fail(const std::string& what);

    const Case& case_;
    const CollectiveSchedule& built_;
    std::size_t chips_;
    std::size_t stages_;
    std::size_t units_ = 1;  ///< cells of one home
    std::vector<std::vector<std::vector<std::vector<std::size_t>>>>
        cosets_;                             ///< [part][stage][chip]
    std::vector<Values> gathered_;           ///< [row]
    std::vector<std::vector<Values>> sums_;  ///< [row][phase, direction]
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Set>> on_the_way_;
    std::vector<double> received_;
    std::string error_;
};

}  // namespace podsim::collectives
