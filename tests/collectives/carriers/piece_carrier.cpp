#include "tests/collectives/carriers/piece_carrier.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>

#include "tests/collectives/carriers/checks.h"

namespace podsim::collectives {
namespace {

/// Returns the chips of each group in the order of their
/// ranks, z fastest, found by walking over all chips.
std::vector<std::vector<int>> groups_of(const Case& c) {
    std::map<topology::Point, std::vector<int>> groups;  // by the chip at digit 0 of every factor
    for (int chip = 0; chip < c.slice.size(); ++chip) {
        topology::Point first = c.slice.point(chip);
        for (const topology::AxisFactor& f : c.group) {
            int& at = first[static_cast<std::size_t>(f.axis)];
            at -= at / f.stride % f.length * f.stride;
        }
        groups[first].push_back(chip);
    }
    std::vector<std::vector<int>> list;
    for (const auto& [first, chips] : groups) {
        list.push_back(chips);
    }
    return list;
}

class Carrier : public sim::Observer {
public:
    using Piece = std::pair<int, int>;  ///< owner of the block (a chip), index of the piece

    Carrier(const Case& c, const CollectiveSchedule& built)
        : case_(c), built_(built), holds_(static_cast<std::size_t>(c.slice.size())) {
        if (c.operation == Operation::send) {
            const int from = c.slice.index(c.ends.root);
            give(from, from);
            promise(c.slice.index(c.ends.to), from);
            return;
        }
        for (const std::vector<int>& chips : groups_of(c)) {
            const int n = static_cast<int>(chips.size());
            const int root_chip = root_of(chips.front());
            for (int member = 0; member < n; ++member) {
                const int chip = chips[static_cast<std::size_t>(member)];
                const int to = ((member + c.ends.shift) % n + n) % n;
                switch (c.operation) {
                    case Operation::permute:
                        give(chip, chip);
                        promise(chips[static_cast<std::size_t>(to)], chip);
                        break;
                    case Operation::broadcast:
                        promise(chip, root_chip);
                        give(root_chip, root_chip);
                        break;
                    case Operation::gather:
                        give(chip, chip);
                        promise(root_chip, chip);
                        break;
                    default:
                        give(root_chip, chip);
                        promise(chip, chip);
                        break;
                }
            }
        }
    }

    void transfer_fired(sim::OperationId /*op*/, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time /*now*/) override {
        const int chip = static_cast<int>(source.index());
        if (const Piece piece = piece_of(chip, -1, transfer); !has(chip, piece)) {
            fail("a message leaves before its piece has come", chip, transfer);
        }
    }
    void transfer_arrived(sim::OperationId /*op*/, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time /*now*/) override {
        const int from = static_cast<int>(source.index());
        const int to = static_cast<int>(destination.index());
        const Piece piece = piece_of(from, to, transfer);
        if (!holds_[static_cast<std::size_t>(to)].insert(piece).second) {
            fail("a piece comes twice", to, transfer);
        }
        bytes_[{to, piece.first}] += built_.schedule.transfers[transfer].bytes.value();
    }

    std::string check() {
        const double n = case_.operation == Operation::permute ||
                                 case_.operation == Operation::gather ||
                                 case_.operation == Operation::scatter
                             ? group_size(case_.group)
                             : 1;
        const double block = case_.v.value() / n;
        for (const auto& [chip, owner] : promised_) {
            if (owner == chip && given_.contains({chip, owner})) {
                continue;
            }
            const double came = bytes_.contains({chip, owner}) ? bytes_[{chip, owner}] : 0;
            if (std::abs(came - block) > 1e-9 * block) {
                std::ostringstream text;
                text << "chip " << chip << " got " << came << " B of the " << block << " B of chip "
                     << owner;
                return text.str();
            }
        }
        for (const auto& [pair, came] : bytes_) {
            if (!promised_.contains(pair) && case_.operation != Operation::broadcast) {
                return "a chip got what is not its own";
            }
        }
        return error_;
    }

private:
    /// Returns the owner of the block and the index of the piece that a message carries.
    Piece piece_of(int source, int destination, std::uint32_t transfer) {
        const Payload& payload = built_.payloads[transfer];
        if (payload.high != payload.low + 1 || payload.high > payload.unit) {
            fail("a message is not one piece", source, transfer);
        }
        const int piece = static_cast<int>(payload.low);
        switch (case_.operation) {
            case Operation::permute:
            case Operation::send:
            case Operation::gather:
                return {source, piece};
            case Operation::scatter:
                // The root has the blocks of all members; the
                // owner shows at the latest at the destination.
                return {destination < 0 ? source : destination, piece};
            default:
                return {root_of(source), piece};
        }
    }
    /// Returns the chip of the same group that has the root's coordinates in its group.
    [[nodiscard]] int root_of(int chip) const {
        topology::Point p = case_.slice.point(chip);
        for (const topology::AxisFactor& f : case_.group) {
            const auto axis = static_cast<std::size_t>(f.axis);
            const int digit = p[axis] / f.stride % f.length;
            p[axis] += (case_.ends.root[axis] / f.stride % f.length - digit) * f.stride;
        }
        return case_.slice.index(p);
    }
    void give(int chip, int owner) { given_.insert({chip, owner}); }
    void promise(int chip, int owner) { promised_.insert({chip, owner}); }
    [[nodiscard]] bool has(int chip, const Piece& piece) const {
        return given_.contains({chip, piece.first}) ||
               holds_[static_cast<std::size_t>(chip)].contains(piece);
    }
    void fail(const std::string& what, int chip, std::uint32_t transfer) {
        if (error_.empty()) {
            error_ = what + " at chip " + std::to_string(chip) + ", transfer " +
                     std::to_string(transfer);
        }
    }

    const Case& case_;
    const CollectiveSchedule& built_;
    std::set<std::pair<int, int>> given_;     ///< chip, owner of the block
    std::set<std::pair<int, int>> promised_;  ///< chip, owner of the block
    std::map<std::pair<int, int>, double> bytes_;
    std::vector<std::set<Piece>> holds_;
    std::string error_;
};

}  // namespace

std::string carry(const Case& c) {
    std::optional<Carrier> carrier;
    const Outcome run = run_on(c.slice, c, [&](const CollectiveSchedule& built, sim::Workload&) {
        return &carrier.emplace(c, built);
    });
    expect_fold_is_equal(c);
    const std::optional<sim::Time> exact = closed_form(c.call(), c.options, c.link);
    if (exact && exact->ps != run.result.end.ps) {
        return "closed form " + std::to_string(exact->ps) + " ps, simulated " +
               std::to_string(run.result.end.ps) + " ps";
    }
    return carrier->check();
}

}  // namespace podsim::collectives
