#include "workloads/schedule/list_schedule.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <stdexcept>

namespace podsim::workloads {
namespace {

class ListScheduler {
public:
    ListScheduler(const std::vector<ScheduleNode>& nodes, const std::vector<int>& in_flight)
        : nodes_(nodes),
          bounds_(in_flight),
          users_(nodes.size()),
          ready_at_(nodes.size()),
          unlocks_(nodes.size()),
          flying_(in_flight.size() + 1),
          ends_(in_flight.size() + 1) {
        bounds_.push_back(std::numeric_limits<int>::max());  // kUnbounded
        for (const ScheduleNode& node : nodes) {
            if (node.floats) {
                continue;
            }
            left_.resize(std::max<std::size_t>(left_.size(), node.turn + 1));
            ++left_[node.turn];
        }
        waiting_.resize(left_.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const std::uint32_t before : nodes[i].after) {
                ++users_[before];
                unlocks_[i] =
                    unlocks_[i] || (nodes[before].kind != kOnStream &&
                                    (nodes[before].floats || nodes[before].turn == nodes[i].turn));
            }
        }
        turn_ = left_.size();
        next_turn();
    }

    std::vector<ScheduleSlot> run() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (users_[i] == 0) {
                becomes_ready(static_cast<std::uint32_t>(i));
            }
        }
        while (place_end() || place_other()) {
        }
        if (placed_ != nodes_.size()) {
            throw std::logic_error("a schedule leaves operations out");
        }
        std::ranges::reverse(order_);
        return std::move(order_);
    }

private:
    [[nodiscard]] std::size_t room(std::uint32_t node) const {
        return std::min<std::size_t>(nodes_[node].kind, bounds_.size() - 1);
    }

    /// All of its users are placed.
    void becomes_ready(std::uint32_t node) {
        if (!nodes_[node].floats && nodes_[node].turn != turn_) {
            waiting_[nodes_[node].turn].push_back(node);
        } else if (nodes_[node].kind == kOnStream) {
            ready_.push_back(node);
        } else {
            ends_[room(node)].push(node);
        }
    }

    /// Goes on to the last turn that has something left.
    void next_turn() {
        while (turn_ > 0 && (turn_ == left_.size() || left_[turn_] == 0)) {
            --turn_;
            for (const std::uint32_t node : waiting_[turn_]) {
                becomes_ready(node);
            }
        }
    }

    /// An end, where its kind has room: of several the one that stands last.
    bool place_end() {
        std::size_t best = ends_.size();
        for (std::size_t kind = 0; kind < ends_.size(); ++kind) {
            if (!ends_[kind].empty() && flying_[kind] < bounds_[kind] &&
                (best == ends_.size() || ends_[kind].top() > ends_[best].top())) {
                best = kind;
            }
        }
        if (best == ends_.size()) {
            return false;
        }
        const std::uint32_t node = ends_[best].top();
        ends_[best].pop();
        ++flying_[best];
        now_ = std::max(now_, ready_at_[node]);
        ready_at_[node] = now_ + nodes_[node].time;
        ready_.push_back(node);
        order_.push_back({node, true});
        return true;
    }

    [[nodiscard]] sim::Time stall(std::uint32_t node) const {
        return ready_at_[node] > now_ ? ready_at_[node] - now_ : sim::Time{};
    }
    [[nodiscard]] bool frees_room(std::uint32_t node) const {
        return nodes_[node].kind != kOnStream && !ends_[room(node)].empty();
    }

    [[nodiscard]] bool goes_before(std::uint32_t one, std::uint32_t other) const {
        if (stall(one) != stall(other)) {
            return stall(one) < stall(other);
        }
        if (frees_room(one) != frees_room(other)) {
            return frees_room(one);
        }
        if (unlocks_[one] != unlocks_[other]) {
            return unlocks_[one];
        }
        return one > other;
    }

    /// A node on the stream, or a start.
    bool place_other() {
        if (ready_.empty()) {
            return false;
        }
        const auto best = std::ranges::min_element(
            ready_, [&](auto one, auto other) { return goes_before(one, other); });
        const std::uint32_t node = *best;
        *best = ready_.back();
        ready_.pop_back();
        now_ = std::max(now_, ready_at_[node]);
        const sim::Time at = now_;
        if (nodes_[node].kind == kOnStream) {
            now_ += nodes_[node].time;
        } else {
            --flying_[room(node)];
        }
        order_.push_back({node, false});
        ++placed_;
        for (const std::uint32_t before : nodes_[node].after) {
            ready_at_[before] = std::max(ready_at_[before], at);
            if (--users_[before] == 0) {
                becomes_ready(before);
            }
        }
        if (!nodes_[node].floats) {
            --left_[nodes_[node].turn];
            next_turn();
        }
        return true;
    }

    const std::vector<ScheduleNode>& nodes_;
    std::vector<int> bounds_;
    std::vector<std::uint32_t> users_;  ///< that are not placed
    std::vector<sim::Time> ready_at_;
    std::vector<bool> unlocks_;                             ///< reads what a node in flight makes
    std::vector<int> flying_;                               ///< by kind, kUnbounded last
    std::vector<std::priority_queue<std::uint32_t>> ends_;  ///< ready, by kind
    std::vector<std::uint32_t> ready_;                      ///< on the stream, and starts
    std::vector<std::uint32_t> left_;                       ///< by turn
    std::vector<std::vector<std::uint32_t>> waiting_;       ///< by turn, until it is reached
    std::size_t turn_ = 0;
    sim::Time now_;
    std::size_t placed_ = 0;
    std::vector<ScheduleSlot> order_;
};

}  // namespace

std::vector<ScheduleSlot> list_schedule(const std::vector<ScheduleNode>& nodes,
                                        const std::vector<int>& in_flight) {
    return ListScheduler(nodes, in_flight).run();
}

}  // namespace podsim::workloads
