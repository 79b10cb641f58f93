// Every message of a collective across slices, written down from the rules, for the second
// simulator (slices_brute_force.h).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/collectives/slices/slices_support.h"

namespace podsim::collectives {

using Clock = std::int64_t;  ///< picoseconds
inline constexpr Clock kNever = std::numeric_limits<Clock>::max();

enum class Kind { ici, to_host, out, in, to_chip };

struct Chip {
    int slice = 0;
    topology::Point at{};

    friend auto operator<=>(const Chip&, const Chip&) = default;
};

struct SlowLink {
    Clock busy_until = 0;
    double rate = 0;
    Clock latency = 0;
};

/// A message, by chip, part, chunk, phase, direction, distance, and index in its block.
using MessageName = std::tuple<Chip, int, int, int, int, int, int>;
using PhaseAt = std::tuple<Chip, int, int, int>;  ///< chip, part, chunk, phase

enum class State { held_back, queued, on_link, done };

struct SlowMessage {
    std::vector<std::size_t> links{};
    double bytes = 0;
    double bytes_before = 0;
    int wave = 0;
    bool far_first = false;  ///< more links left go first
    int part = 0, phase = 0, step = 0, chunk = 0, backward = 0, turn = 0;
    int index_in_host = 0;                 ///< of the source
    std::optional<MessageName> follows{};  ///< must have arrived here
    std::optional<PhaseAt> begins{};       ///< must have ended here
    bool closes_phase = false;             ///< its arrival counts for the phase's end

    State state = State::held_back;
    std::size_t hop = 0;
    Clock queued_at = 0;
    Clock left_last_link = 0;  ///< additive: arrives its latency later
    Clock due = kNever;
};

class SlicesMessages {
public:
    explicit SlicesMessages(const SlicesCase& c);

    std::vector<SlowMessage> messages;
    std::map<MessageName, std::size_t> names;
    std::map<PhaseAt, std::vector<std::size_t>> arriving;
    std::vector<SlowLink> links;

private:
    /// A link, by its kind, its chip or the first chip of its host, its axis and its direction.
    using LinkName = std::tuple<Kind, Chip, int, int>;
    struct PhaseSpec {
        int part, chunk, phase, factor, n;
        double block;
        bool reduce;
    };

    void write_parts();
    void write_phase(const PhaseSpec& p);
    void write_block(const PhaseSpec& p, const Chip& chip, int direction, int distance);
    void write_pairs();
    void write_pairs_between_slices(double bytes);
    void write_route(const Chip& from, const std::vector<std::size_t>& route, double bytes,
                     int number, int index);

    [[nodiscard]] const topology::AxisFactor& factor(int f) const;
    [[nodiscard]] bool ring(int f) const;
    [[nodiscard]] int digit(const topology::Point& chip, int f) const;
    [[nodiscard]] topology::Point walk(const topology::Point& chip, int axis, int distance) const;
    [[nodiscard]] int other_slice(int slice, int ranks) const;
    std::size_t link(Kind kind, Chip chip, int axis = 0, int way = 0);
    std::vector<std::size_t> way_between(const Chip& from, const Chip& to);
    [[nodiscard]] int index_in_host(const topology::Point& chip) const;
    [[nodiscard]] std::vector<int> lengths_of(const std::vector<int>& order) const;
    [[nodiscard]] std::vector<topology::Point> all_chips() const;
    [[nodiscard]] std::vector<topology::Point> first_chips() const;
    [[nodiscard]] std::vector<std::pair<topology::Point, topology::Point>> ends_of(
        const topology::Point& chip) const;

    const SlicesCase& c_;
    const Case& w_;
    const bool whole_twisted_;
    const bool one_way_;
    std::map<LinkName, std::size_t> names_of_links_;
};

}  // namespace podsim::collectives
