// Carries data through a run across slices, exactly as Payload describes it (for AllToAll: as the
// transfer does).
//
// A member of a group is a place; before the s-th gather stage of its part it holds the blocks of a
// coset of homes, which the stages before can reach by walking. A message carries a range of the
// cells of such a coset, its homes in ascending order. A cell's value is the set of members whose
// contributions it holds; adding sets that overlap counts a contribution twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/observer.h"
#include "tests/collectives/slices/slices_support.h"

namespace podsim::collectives {

class SlicesCarrier : public sim::Observer {
public:
    /// For unfolded runs with groups of at most 64 members.
    SlicesCarrier(const SlicesCase& c, const CollectiveSchedule& built);

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
    using Values = std::vector<Set>;
    static constexpr int kSlices = -1;  ///< the stage between slices

    void find_members();
    void find_cosets();
    [[nodiscard]] std::optional<int> moved(int place, int stage_factor, int steps) const;
    [[nodiscard]] std::size_t stage(const Payload& payload) const;
    [[nodiscard]] std::size_t row(const Payload& payload) const {
        return payload.part * static_cast<std::size_t>(built_.chunks) + payload.chunk;
    }
    [[nodiscard]] std::vector<std::size_t> cells(const Payload& payload, int sender);
    Set& at(Values& values, int place, std::size_t cell);
    [[nodiscard]] Set reduced(std::size_t row, std::size_t phases, int place, std::size_t cell);
    [[nodiscard]] Set holds(std::size_t row, int place, std::size_t cell);
    [[nodiscard]] Set promised(std::size_t cell) const;
    [[nodiscard]] Set add(Set a, Set b, const char* where);
    void fail(const std::string& what);

    const SlicesCase& case_;
    const CollectiveSchedule& built_;
    topology::Places places_;
    bool to_all_ = false;                     ///< AllToAll: pairs instead of cells
    std::vector<std::vector<int>> group_of_;  ///< [place]: its group's places, ascending
    std::vector<std::size_t> rank_;           ///< [place]: its index there
    std::size_t members_ = 1;
    std::vector<std::vector<int>> stages_;                            ///< [part]: factors, kSlices
    std::vector<std::vector<std::vector<std::vector<int>>>> cosets_;  ///< [part][stage][place]
    std::size_t units_ = 1;                                           ///< cells of one home
    std::vector<Values> gathered_;                                    ///< [row]
    std::vector<std::vector<Values>> sums_;                           ///< [row][phase, direction]
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Set>> on_the_way_;
    std::map<std::pair<int, int>, double> pair_bytes_;  ///< AllToAll: [from, to]
    std::vector<double> received_;
    std::string error_;
};

}  // namespace podsim::collectives
