#include "tests/collectives/carriers/brute_force.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/collectives/carriers/brute_force_chunks.h"
#include "tests/collectives/carriers/brute_force_routes.h"

namespace podsim::collectives {
namespace {

using topology::Point;
using Clock = std::int64_t;  ///< picoseconds

constexpr Clock kUnreached = std::numeric_limits<Clock>::max();

/// A directed link, by its first chip, axis and direction.
using Link = std::tuple<Point, int, int>;
/// A message, by chip, part, chunk, phase, direction, distance, and index in its block.
using Name = std::tuple<Point, int, int, int, int, int, int>;
/// A phase at a chip: chip, part, chunk, phase.
using PhaseAt = std::tuple<Point, int, int, int>;

enum class State { held_back, queued, on_link, done };

struct Message {
    Point from{};
    Point to{};
    std::vector<std::size_t> links;
    double bytes = 0;
    double bytes_before = 0;
    std::array<int, 3> goes{};  ///< smaller goes first
    bool far_first = false;     ///< more links left go first
    int part = 0, phase = 0, step = 0, chunk = 0, backward = 0, turn = 0;
    std::optional<Name> follows;    ///< must have arrived here
    std::optional<PhaseAt> begins;  ///< must have ended here
    bool closes_phase = false;      ///< its arrival counts for the phase's end

    State state = State::held_back;
    std::size_t hop = 0;
    Clock queued_at = 0;
    Clock left_last_link = 0;
    Clock due = kUnreached;
};

bool is_done(const Message& message) {
    return message.state == State::done;
}

class BruteForce {
public:
    explicit BruteForce(const Case& c)
        : case_(c), whole_twisted_(c.slice.twisted() && group_size(c.group) == c.slice.size()) {}

    Clock run() {
        if (case_.operation == Operation::all_to_all) {
            write_pairs();
        } else {
            write_messages();
        }
        Clock now = 0;
        Clock end = 0;
        release(now);
        while (now != kUnreached) {
            serve(now);
            Clock next = kUnreached;
            for (const Message& message : messages_) {
                next = std::min(next, message.due);
                if (message.state == State::queued) {
                    next = std::min(next, std::max(now, busy_until_[message.links[message.hop]]));
                }
            }
            now = next;
            bool arrivals = false;
            for (Message& message : messages_) {
                if (message.due == now && now != kUnreached) {
                    arrivals = deliver(message, now) || arrivals;
                    end = now;
                }
            }
            if (arrivals) {
                release(now);
            }
        }
        const bool done = std::ranges::all_of(messages_, is_done);
        return done ? end : -1;
    }

private:
    int digit(const Point& chip, int factor) const {
        const topology::AxisFactor& f = case_.group[static_cast<std::size_t>(factor)];
        return chip[static_cast<std::size_t>(f.axis)] / f.stride % f.length;
    }

    bool is_ring(const topology::AxisFactor& f) const {
        return whole_twisted_ || is_plain_ring(case_.slice, f);
    }

    Point step(const Point& chip, int axis, int distance) const {
        return *walked(case_.slice, chip, axis, distance, true);
    }

    /// Returns the lengths of the rings of a whole twisted slice.
    std::vector<int> twisted_lengths(const std::vector<int>& order) const {
        std::set<Point> held{Point{}};
        std::vector<int> lengths;
        for (const int factor : order) {
            const int axis = case_.group[static_cast<std::size_t>(factor)].axis;
            const std::set<Point> before = held;
            int length = 0;
            do {
                ++length;
                for (const Point& home : before) {
                    held.insert(step(home, axis, length));
                }
            } while (!before.contains(step(Point{}, axis, length)));
            lengths.push_back(length);
        }
        return lengths;
    }

    /// Writes a message for every route of every pair.
    void write_pairs() {
        const std::vector<Pair> pairs =
            pairs_of(case_.slice, case_.group, case_.algorithm == Algorithm::one_way);
        const double n = group_size(case_.group);
        for (const Pair& pair : pairs) {
            for (std::size_t r = 0; r < pair.walks.size(); ++r) {
                const double bytes = case_.v.value() / n / n * pair.walks[r].share;
                const int count = std::max(
                    1, static_cast<int>(std::ceil(bytes / case_.options.message_cap.value())));
                for (int i = 0; i < count; ++i) {
                    Message m;
                    m.from = pair.from;
                    for (const Crossing& c : pair.walks[r].crossings) {
                        m.links.push_back(link(c.chip, c.axis, c.direction));
                    }
                    m.bytes = bytes / count;
                    m.bytes_before = m.bytes * i;
                    m.far_first = true;
                    m.part = pair.number;
                    m.step = static_cast<int>(r);
                    m.chunk = i;
                    messages_.push_back(m);
                }
            }
        }
    }

    std::size_t link(const Point& from, int axis, int direction) {
        const auto at = links_.try_emplace({from, axis, direction}, links_.size()).first;
        busy_until_.resize(links_.size());
        return at->second;
    }

    Clock occupancy(double bytes) const {
        return static_cast<Clock>(std::ceil(bytes / case_.link.rate.value() * 1e12));
    }

    std::vector<BruteForceOrder> orders() const {
        std::vector<BruteForceOrder> all;
        for (const Part& part : divide(case_.slice, case_.group, case_.algorithm)) {
            BruteForceOrder& order = all.emplace_back();
            order.share = part.weight;
            for (const int factor : part.order) {
                order.factors.push_back(static_cast<std::size_t>(factor));
                order.lengths.push_back(case_.group[static_cast<std::size_t>(factor)].length);
            }
            if (whole_twisted_) {
                order.lengths = twisted_lengths(part.order);
            }
        }
        return all;
    }

    void set_chunks(const std::vector<BruteForceOrder>& orders) {
        BruteForceChunks chunks =
            brute_force_chunks(case_, orders, [&](const auto& f) { return is_ring(f); });
        waves_ = chunks.waves;
        chunks_ = std::move(chunks.sizes);
        units_ = std::accumulate(chunks_.begin(), chunks_.end(), 0);
    }

    std::array<int, 3> goes(int chunk, int phase, bool reduce) const {
        if (waves_) {
            return {chunk / case_.options.chunks_in_flight, phase, 0};
        }
        if (case_.operation != Operation::all_reduce) {
            return {phase, reduce ? -chunk : chunk, 0};
        }
        if (reduce) {
            return {1, -chunk, phase};
        }
        const bool last = phase + 1 == 2 * static_cast<int>(case_.group.size());
        return {last ? 2 : 0, phase, chunk};
    }

    void write_messages() {
        const std::vector<BruteForceOrder> parts = orders();
        set_chunks(parts);
        const int factors = static_cast<int>(case_.group.size());
        for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
            const BruteForceOrder& p = parts[static_cast<std::size_t>(part)];
            double unit = case_.v.value() * (p.share / group_size(case_.group) / units_);
            for (int stage = 0; stage < factors; ++stage) {
                const int factor = static_cast<int>(p.factors[static_cast<std::size_t>(stage)]);
                const int n = p.lengths[static_cast<std::size_t>(stage)];
                for (int chunk = 0; chunk < static_cast<int>(chunks_.size()); ++chunk) {
                    const double block = unit * chunks_[static_cast<std::size_t>(chunk)];
                    if (case_.operation != Operation::all_gather) {
                        write_phase(part, chunk, factors - 1 - stage, factor, n, block, true);
                    }
                    if (case_.operation != Operation::reduce_scatter) {
                        const int before = case_.operation == Operation::all_reduce ? factors : 0;
                        write_phase(part, chunk, before + stage, factor, n, block, false);
                    }
                }
                unit = unit * n;
            }
        }
    }

    void write_phase(int part, int chunk, int phase, int factor, int n, double block, bool reduce) {
        const topology::AxisFactor& f = case_.group[static_cast<std::size_t>(factor)];
        const bool ring = is_ring(f);
        const bool one_way = ring && case_.algorithm == Algorithm::one_way;
        const bool two_way = ring && !one_way;
        const int pieces =
            static_cast<int>(message_count(sim::Bytes(block), case_.options.message_cap));
        for (int i = 0; i < case_.slice.size(); ++i) {
            const Point chip = case_.slice.point(i);
            const int at = digit(chip, factor);
            for (const int direction : {1, -1}) {
                const int behind = direction > 0 ? at : n - 1 - at;
                const int ahead = n - 1 - behind;
                for (int distance = 1; distance < n; ++distance) {
                    const bool in_reach = two_way   ? 2 * distance <= n
                                          : one_way ? direction > 0
                                          : reduce  ? distance <= ahead
                                                    : ahead > 0 && distance <= behind + 1;
                    if (in_reach) {
                        write_block(chip, part, chunk, phase, factor, direction, distance, n, block,
                                    pieces, reduce);
                    }
                }
            }
        }
    }

    void write_block(const Point& chip, int part, int chunk, int phase, int factor, int direction,
                     int distance, int n, double block, int pieces, bool reduce) {
        const topology::AxisFactor& f = case_.group[static_cast<std::size_t>(factor)];
        const bool two_way = is_ring(f) && case_.algorithm != Algorithm::one_way;
        const bool half = two_way && 2 * distance == n;
        const int first = half && direction < 0 ? pieces / 2 : 0;
        const int last = half && direction > 0 ? (pieces + 1) / 2 : pieces;
        const double piece_bytes = half && pieces == 1 ? block * 0.5 : block * (1.0 / pieces);
        for (int piece = first; piece < last; ++piece) {
            Message m;
            m.from = chip;
            m.to = step(chip, f.axis, direction * f.stride);
            for (int hop = 0; hop < f.stride; ++hop) {
                m.links.push_back(link(step(chip, f.axis, direction * hop), f.axis, direction));
            }
            m.bytes = piece_bytes;
            const int sent_before = direction > 0 ? piece - first : last - 1 - piece;
            m.bytes_before = block * (static_cast<double>(sent_before) / pieces);
            m.goes = goes(chunk, phase, reduce);
            m.part = part;
            m.phase = phase;
            m.step = reduce ? -distance : distance;
            m.chunk = chunk;
            m.backward = direction < 0 ? 1 : 0;
            m.turn = direction > 0 ? piece : pieces - 1 - piece;
            // The same message, one member back: the block or the sum came from there.
            const Name name{
                step(chip, f.axis, -direction * f.stride), part, chunk, phase, direction,
                reduce ? distance + 1 : distance - 1,      piece};
            m.follows = name;
            if (phase > 0 && (reduce || distance == 1)) {
                m.begins = PhaseAt{chip, part, chunk, phase - 1};
            }
            m.closes_phase = !reduce || distance == 1;
            arriving_[{m.to, part, chunk, phase}].push_back(messages_.size());
            names_.emplace(Name{chip, part, chunk, phase, direction, distance, piece},
                           messages_.size());
            messages_.push_back(m);
        }
    }

    bool phase_ended(const PhaseAt& at) {
        const auto& [chip, part, chunk, phase] = at;
        if (phase > 0 && !phase_ended({chip, part, chunk, phase - 1})) {
            return false;
        }
        return std::ranges::all_of(arriving_[at], [&](std::size_t i) {
            return !messages_[i].closes_phase || is_done(messages_[i]);
        });
    }

    /// Queues all messages whose conditions hold now.
    void release(Clock now) {
        for (Message& message : messages_) {
            if (message.state != State::held_back) {
                continue;
            }
            if (message.follows) {
                const auto before = names_.find(*message.follows);
                if (before != names_.end() && !is_done(messages_[before->second])) {
                    continue;
                }
            }
            if (message.begins && !phase_ended(*message.begins)) {
                continue;
            }
            message.state = State::queued;
            message.queued_at = now;
        }
    }

    /// Moves a head to its next link, or ends the message; true if the message has arrived.
    bool deliver(Message& message, Clock now) const {
        message.due = kUnreached;
        if (message.hop == message.links.size()) {
            message.state = State::done;
            return true;
        }
        message.state = State::queued;
        message.queued_at = now;
        return false;
    }

    static auto turn(const Message& m) {
        const auto left = static_cast<std::int64_t>(m.links.size() - m.hop);
        return std::tuple(m.goes, m.far_first ? -left : 0, m.queued_at, m.part, m.step, m.chunk,
                          m.backward, m.turn, m.hop);
    }

    /// Starts the message of highest priority on every idle link.
    void serve(Clock now) {
        std::map<std::size_t, Message*> chosen;
        for (Message& message : messages_) {
            if (message.state != State::queued || busy_until_[message.links[message.hop]] > now) {
                continue;
            }
            Message*& best = chosen[message.links[message.hop]];
            if (best == nullptr || turn(message) < turn(*best)) {
                best = &message;
            }
        }
        const Clock latency = static_cast<Clock>(std::ceil(case_.link.latency.value() * 1e12));
        const bool additive = case_.link.rule == sim::LatencyRule::additive;
        for (const auto& [link, message] : chosen) {
            Clock end = now + occupancy(message->bytes);
            if (message->hop > 0) {
                end = std::max(end, message->left_last_link + (additive ? latency : 0));
            }
            busy_until_[link] = end;
            message->left_last_link = end;
            message->state = State::on_link;
            if (++message->hop < message->links.size()) {
                message->due = now + latency;
            } else if (additive) {
                message->due = end + latency;
            } else {
                message->due = std::max(end, now + latency - occupancy(message->bytes_before));
            }
        }
    }

    const Case& case_;
    const bool whole_twisted_;
    bool waves_ = false;
    std::vector<int> chunks_;  ///< sizes in units
    int units_ = 0;
    std::vector<Message> messages_;
    std::map<Name, std::size_t> names_;
    std::map<PhaseAt, std::vector<std::size_t>> arriving_;
    std::map<Link, std::size_t> links_;
    std::vector<Clock> busy_until_;
};

}  // namespace

sim::Time brute_force(const Case& c) {
    return {BruteForce(c).run()};
}

}  // namespace podsim::collectives
