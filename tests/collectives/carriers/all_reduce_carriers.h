// Data carried through the AllReduces that are not ReduceScatter and
// AllGather: along trees, and in one shot. A message brings a set of
// contributors (bit = chip); sets that are added must be disjoint.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Common base of both carriers: the members of each group,
/// the first error, and the bytes that have arrived.
class AllReduceCarrier : public sim::Observer {
public:
    static constexpr std::size_t kMostChips = 256;
    using Set = std::bitset<kMostChips>;

    AllReduceCarrier(const Case& c, const CollectiveSchedule& built);

    [[nodiscard]] const std::string& error() const { return error_; }
    /// Bytes that have arrived at each chip.
    [[nodiscard]] const std::vector<double>& received() const { return received_; }
    /// Checks, after the run, that every member holds every member's contribution.
    virtual void check_result() = 0;

protected:
    /// Returns the chip at a distance of `members` members along the factor, across wraps.
    [[nodiscard]] std::size_t member(std::size_t chip, int factor, int members);
    /// Records an arrival and checks that it is at the neighbour.
    void arrived(const Payload& payload, std::size_t from, std::size_t to, std::uint32_t transfer);
    Set add(const Set& a, const Set& b);
    void fail(const std::string& what);

    const Case case_;
    const CollectiveSchedule& built_;
    std::size_t chips_;
    std::vector<Set> group_;  ///< [chip]
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Set>> on_the_way_;

private:
    std::vector<double> received_;
    std::string error_;
};

/// Carrier of reduce_broadcast. A share is a tree, a
/// message and the position of the root on the rings.
class TreeCarrier : public AllReduceCarrier {
public:
    using AllReduceCarrier::AllReduceCarrier;
    void transfer_fired(sim::OperationId op, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override;
    void transfer_arrived(sim::OperationId op, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override;
    void check_result() override;

private:
    using Share = std::tuple<std::uint16_t, std::uint32_t, std::vector<int>>;
    struct Values {
        std::vector<Set> sums;     ///< [chip]
        std::vector<Set> results;  ///< [chip]
    };
    [[nodiscard]] Values& values(const Payload& payload, std::size_t sender);

    std::map<Share, Values> values_;
};

/// Carrier of one_shot. Cells are the smallest pieces of a
/// part; a home is the chip whose sum a message carries.
class OneShotCarrier : public AllReduceCarrier {
public:
    using AllReduceCarrier::AllReduceCarrier;
    void transfer_fired(sim::OperationId op, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override;
    void transfer_arrived(sim::OperationId op, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override;
    void check_result() override;

private:
    /// Part, phase, chip, home, cell.
    using Piece = std::tuple<int, int, std::size_t, std::size_t, std::uint32_t>;
    /// Returns the contributors that a chip has added up before a phase.
    [[nodiscard]] Set sum(int part, int phase, std::size_t chip, std::uint32_t cell);

    std::map<Piece, Set> pieces_;
    std::map<std::tuple<int, int, std::size_t, std::uint32_t>, Set> added_;
    std::map<int, std::uint32_t> units_;  ///< by part
};

}  // namespace podsim::collectives
