#include "workloads/schedule/latency_hiding.h"

#include <algorithm>
#include <cstddef>

#include "sim/base/error.h"
#include "workloads/program/memory_peak.h"
#include "workloads/schedule/list_schedule.h"
#include "workloads/schedule/reorder.h"

namespace podsim::workloads {
namespace {

/// The kinds of what is in flight: those of kAsyncKinds within a slice, the same between slices, and what comes from the host.
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

/// The graph of one program for the list scheduler, and back.
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
            // The end of a turn is all of it, whatever comes last.
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

    /// Of what goes to the host, which is placed afterwards, what it needs.
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

/// Whether two members' programs differ in nothing but how much their operations do.
bool alike(const StepProgram& one, const StepProgram& other) {
    return std::ranges::equal(one.ops, other.ops, [](const Op& a, const Op& b) {
        return a.name == b.name && a.work.index() == b.work.index() && a.needs == b.needs &&
               a.limits == b.limits;
    });
}

/// The longest of the members' times.
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
