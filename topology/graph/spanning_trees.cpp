// Computes disjoint spanning trees (flow.h).
#include <algorithm>

#include "topology/graph/flow.h"

namespace podsim::topology {
namespace {

class Packer {
public:
    Packer(int nodes, std::span<const Arc> arcs, int root)
        : arcs_(arcs),
          root_(root),
          out_(static_cast<std::size_t>(nodes)),
          in_(static_cast<std::size_t>(nodes)),
          left_(arcs.size(), true),
          flow_(arcs.size()),
          seen_(static_cast<std::size_t>(nodes)) {
        for (std::size_t a = 0; a < arcs.size(); ++a) {
            out_[static_cast<std::size_t>(arcs[a].from)].push_back(static_cast<int>(a));
            in_[static_cast<std::size_t>(arcs[a].to)].push_back(static_cast<int>(a));
        }
        // Paths back to the root are searched along the arcs from nodes nearer to it first.
        std::vector<int> distance(out_.size(), nodes);
        std::vector<int> queue{root};
        distance[static_cast<std::size_t>(root)] = 0;
        for (std::size_t next = 0; next < queue.size(); ++next) {
            for (const int arc : out_[static_cast<std::size_t>(queue[next])]) {
                const int to = arcs[static_cast<std::size_t>(arc)].to;
                if (distance[static_cast<std::size_t>(to)] == nodes && to != root) {
                    distance[static_cast<std::size_t>(to)] =
                        distance[static_cast<std::size_t>(queue[next])] + 1;
                    queue.push_back(to);
                }
            }
        }
        for (std::vector<int>& in : in_) {
            std::ranges::stable_sort(in, {}, [&](int arc) {
                return distance[static_cast<std::size_t>(arcs[static_cast<std::size_t>(arc)].from)];
            });
        }
    }

    /// True if `ways` disjoint paths of remaining arcs lead to the node.
    bool reached(int node, int ways) {
        bool all = true;
        for (int way = 0; way < ways && all; ++way) {
            all = find_way(node);
        }
        for (const int arc : changed_) {
            flow_[static_cast<std::size_t>(arc)] = false;
        }
        changed_.clear();
        return all;
    }

    /// Returns a tree that leaves `after` disjoint paths to every node.
    SpanningTree grow(int after) {
        SpanningTree tree(out_.size(), -1);
        std::vector<int> queue = out_[static_cast<std::size_t>(root_)];
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const auto arc = static_cast<std::size_t>(queue[next]);
            const int head = arcs_[arc].to;
            if (!left_[arc] || head == root_ || tree[static_cast<std::size_t>(head)] >= 0) {
                continue;
            }
            left_[arc] = false;
            if (!reached(head, after)) {
                left_[arc] = true;  // final: arcs are only removed
                continue;
            }
            tree[static_cast<std::size_t>(head)] = static_cast<int>(arc);
            const std::vector<int>& further = out_[static_cast<std::size_t>(head)];
            queue.insert(queue.end(), further.begin(), further.end());
        }
        return tree;
    }

private:
    struct Visit {
        int node = 0;
        /// Number of incoming arcs tried, then of outgoing ones.
        std::size_t next = 0;
        int by = -1;  ///< the arc that led here
    };

    /// Finds one more path to the node, backwards and depth first; arcs of earlier paths can be
    /// given back.
    bool find_way(int node) {
        ++stamp_;
        std::vector<Visit> stack{{node, 0, -1}};
        seen_[static_cast<std::size_t>(node)] = stamp_;
        while (!stack.empty() && stack.back().node != root_) {
            Visit& top = stack.back();
            const std::vector<int>& in = in_[static_cast<std::size_t>(top.node)];
            const std::vector<int>& out = out_[static_cast<std::size_t>(top.node)];
            if (top.next == in.size() + out.size()) {
                stack.pop_back();
                continue;
            }
            const bool forward = top.next < in.size();
            const int arc = forward ? in[top.next] : out[top.next - in.size()];
            ++top.next;
            const auto a = static_cast<std::size_t>(arc);
            const int to = forward ? arcs_[a].from : arcs_[a].to;
            const bool open = forward ? left_[a] && !flow_[a] : flow_[a];
            if (open && seen_[static_cast<std::size_t>(to)] != stamp_) {
                seen_[static_cast<std::size_t>(to)] = stamp_;
                stack.push_back({to, 0, arc});
            }
        }
        for (std::size_t i = 1; i < stack.size(); ++i) {
            const auto a = static_cast<std::size_t>(stack[i].by);
            flow_[a] = !flow_[a];
            changed_.push_back(stack[i].by);
        }
        return !stack.empty();
    }

    std::span<const Arc> arcs_;
    int root_;
    std::vector<std::vector<int>> out_;
    std::vector<std::vector<int>> in_;
    std::vector<bool> left_;
    std::vector<bool> flow_;
    std::vector<int> changed_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t stamp_ = 0;
};

}  // namespace

std::vector<SpanningTree> disjoint_trees(int nodes, std::span<const Arc> arcs, int root, int most) {
    Packer packer(nodes, arcs, root);
    int count = most;
    for (int node = 0; node < nodes && count > 0; ++node) {
        while (node != root && count > 0 && !packer.reached(node, count)) {
            --count;
        }
    }
    std::vector<SpanningTree> trees;
    while (nodes > 1 && static_cast<int>(trees.size()) < count) {
        trees.push_back(packer.grow(count - 1 - static_cast<int>(trees.size())));
    }
    return trees;
}

}  // namespace podsim::topology
