#include "workloads/program/latency_hiding.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <stdexcept>

#include "sim/base/error.h"
#include "workloads/program/memory_peak.h"
#include "workloads/program/reorder.h"

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

    /// Handles a node whose users are all placed.
    void becomes_ready(std::uint32_t node) {
        if (!nodes_[node].floats && nodes_[node].turn != turn_) {
            waiting_[nodes_[node].turn].push_back(node);
        } else if (nodes_[node].kind == kOnStream) {
            ready_.push_back(node);
        } else {
            ends_[room(node)].push(node);
        }
    }

    /// Advances to the last turn that has nodes left.
    void next_turn() {
        while (turn_ > 0 && (turn_ == left_.size() || left_[turn_] == 0)) {
            --turn_;
            for (const std::uint32_t node : waiting_[turn_]) {
                becomes_ready(node);
            }
        }
    }

    /// Places an end, if its kind has room; among several the last in the given order.
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

    /// Places a node on the stream, or a start.
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
    std::vector<std::uint32_t> users_;  ///< users that are not placed
    std::vector<sim::Time> ready_at_;
    std::vector<bool> unlocks_;  ///< reads the result of a node in flight
    std::vector<int> flying_;    ///< by kind, kUnbounded last
    std::vector<std::priority_queue<std::uint32_t>> ends_;  ///< ready, by kind
    std::vector<std::uint32_t> ready_;                      ///< on the stream, and starts
    std::vector<std::uint32_t> left_;                       ///< by turn
    std::vector<std::vector<std::uint32_t>> waiting_;       ///< by turn, until it is reached
    std::size_t turn_ = 0;
    sim::Time now_;
    std::size_t placed_ = 0;
    std::vector<ScheduleSlot> order_;
};

/// Kinds of operations in flight: those of kAsyncKinds within a slice, the same between slices, and
/// transfers from the host.
constexpr std::uint32_t kBetweenSlices = kAsyncKinds.size();
constexpr std::uint32_t kFromHost = 2 * kAsyncKinds.size();

std::vector<int> bounds_of(const Overlap& overlap) {
    std::vector<int> bounds(kFromHost + 1, 1);
    for (std::size_t kind = 0; kind < kAsyncKinds.size(); ++kind) {
        bounds[kind] = std::max(overlap.async[kind], 1);
        bounds[kBetweenSlices + kind] = bounds[kind];
    }
    return bounds;
}

std::uint32_t kind_of(const Op& op, bool between_slices, const Overlap& overlap) {
    if (std::holds_alternative<Compute>(op.work)) {
        return kOnStream;
    }
    if (std::holds_alternative<HostTransfer>(op.work)) {
        return kFromHost;
    }
    const auto* collective = std::get_if<Collective>(&op.work);
    if (collective == nullptr || collective->step) {
        return kUnbounded;
    }
    const auto kind = static_cast<std::uint32_t>(
        std::ranges::find(kAsyncKinds, collective->operation) - kAsyncKinds.begin());
    if (between_slices) {
        return kBetweenSlices + kind;
    }
    return overlap.async.at(kind) > 0 ? kind : kOnStream;
}

bool of_weights(const Op& op) {
    const auto* collective = std::get_if<Collective>(&op.work);
    return collective != nullptr &&
           (collective->purpose == Purpose::weights || collective->purpose == Purpose::gradients);
}

/// Converts one program to the list scheduler's graph, and its order back.
class Graph {
public:
    Graph(const StepProgram& program, const Overlap& overlap, const OperationTimes& times)
        : program_(program), turns_(turns_of(program)), node_of_(program.ops.size(), kNoNode) {
        last_compute_.assign(turns_.empty() ? 0 : turns_.back() + 1, kWholeStep);
        streams_.resize(last_compute_.size());
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (std::holds_alternative<Compute>(program.ops[op].work)) {
                last_compute_[turns_[op]] = op;
            }
        }
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (!goes_to_host(program.ops[op])) {
                add(op, times[op], overlap);
            }
        }
    }

    [[nodiscard]] const std::vector<ScheduleNode>& nodes() const { return nodes_; }

    [[nodiscard]] std::vector<Placed> placed(const std::vector<ScheduleSlot>& slots) const {
        std::vector<Placed> order;
        order.reserve(slots.size());
        for (const ScheduleSlot& slot : slots) {
            const ScheduleNode& node = nodes_[slot.node];
            order.push_back({op_of_[slot.node],
                             slot.ends                 ? Placed::End::end
                             : node.kind == kOnStream  ? Placed::End::whole
                             : node.kind == kUnbounded ? Placed::End::early
                                                       : Placed::End::start,
                             node.floats});
        }
        return order;
    }

private:
    static constexpr std::uint32_t kNoNode = 0xffffffff;

    void add(OpIndex index, const OperationTime& time, const Overlap& overlap) {
        const Op& op = program_.ops[index];
        ScheduleNode node{.time = time.time,
                          .kind = kind_of(op, time.between_slices, overlap),
                          .turn = turns_[index]};
        node.floats = std::holds_alternative<HostTransfer>(op.work) ||
                      (of_weights(op) && !overlap.layer_loop && node.kind != kOnStream);
        for (const OpIndex need : op.needs) {
            wait_for(need, node.after);
        }
        for (const OpIndex limit : op.limits) {
            wait_for(limit, node.after);
            // The end of a turn is the end of all its operations, whichever is last.
            if (node.floats && turns_[limit] < turns_[index] &&
                last_compute_[turns_[limit]] == limit) {
                const std::vector<std::uint32_t>& all = streams_[turns_[limit]];
                node.after.insert(node.after.end(), all.begin(), all.end());
            }
        }
        std::ranges::sort(node.after);
        node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
        node_of_[index] = static_cast<std::uint32_t>(nodes_.size());
        if (node.kind == kOnStream) {
            streams_[turns_[index]].push_back(node_of_[index]);
        }
        op_of_.push_back(index);
        nodes_.push_back(std::move(node));
    }

    /// Adds the node of an operation. Transfers to the host are placed afterwards: their needs
    /// stand in for them.
    void wait_for(OpIndex op, std::vector<std::uint32_t>& after) const {
        if (node_of_[op] != kNoNode) {
            after.push_back(node_of_[op]);
            return;
        }
        for (const OpIndex need : program_.ops[op].needs) {
            wait_for(need, after);
        }
    }

    const StepProgram& program_;
    const std::vector<std::uint32_t> turns_;  ///< by operation
    std::vector<OpIndex> last_compute_;       ///< by turn, in the chain's order
    std::vector<std::vector<std::uint32_t>> streams_;
    std::vector<std::uint32_t> node_of_;
    std::vector<OpIndex> op_of_;
    std::vector<ScheduleNode> nodes_;
};

/// True if two members' programs differ only in the amount of work of their operations.
bool alike(const StepProgram& one, const StepProgram& other) {
    return std::ranges::equal(one.ops, other.ops, [](const Op& a, const Op& b) {
        return a.name == b.name && a.work.index() == b.work.index() && a.needs == b.needs &&
               a.limits == b.limits;
    });
}

/// Returns the longest of the members' times for each operation.
OperationTimes longest(const std::vector<OperationTimes>& times, std::size_t first,
                       std::size_t members) {
    OperationTimes most = times[first];
    for (std::size_t program = first + 1; program < first + members; ++program) {
        for (std::size_t op = 0; op < most.size(); ++op) {
            most[op].time = std::max(most[op].time, times[program][op].time);
        }
    }
    return most;
}

}  // namespace

std::vector<ScheduleSlot> list_schedule(const std::vector<ScheduleNode>& nodes,
                                        const std::vector<int>& in_flight) {
    return ListScheduler(nodes, in_flight).run();
}

StepPrograms hide_latency(const StepPrograms& chain, const Overlap& overlap,
                          const std::vector<OperationTimes>& times, sim::Bytes capacity) {
    StepPrograms hidden = chain;
    const std::size_t members = chain.members();
    for (std::size_t first = 0; first < chain.programs.size(); first += members) {
        const StepProgram& one = chain.programs[first];
        for (std::size_t other = first + 1; other < first + members; ++other) {
            if (!alike(one, chain.programs[other])) {
                throw sim::InputError(
                    "overlap.schedule = latency_hiding needs one order for all members of a group, "
                    "and some of them have operations that others have not",
                    "use overlap.schedule: chain, or a placement that gives all the same blocks");
            }
        }
        const Graph graph(one, overlap, longest(times, first, members));
        const std::vector<Placed> order =
            graph.placed(list_schedule(graph.nodes(), bounds_of(overlap)));
        std::vector<StepProgram> reordered;
        bool fits = true;
        for (std::size_t program = first; program < first + members; ++program) {
            const StepProgram& before = chain.programs[program];
            reordered.push_back(reorder(before, order));
            fits = fits && (peak_in_program_order(reordered.back()).total <= capacity ||
                            peak_in_program_order(before).total > capacity);
        }
        if (fits) {
            std::ranges::move(reordered,
                              hidden.programs.begin() + static_cast<std::ptrdiff_t>(first));
        }
    }
    return hidden;
}

}  // namespace podsim::workloads
