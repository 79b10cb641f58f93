// Ring attention of a layer whose queries see a window of the last W keys: the routes of the
// segments of keys and values, and the queries of a rank that see them. Pure geometry.
//
// A sequence of S tokens lies on C ranks in P segments (pieces_) of q = S / P keys. With plain
// placement P = C and rank r has segment r. With zig-zag placement P = 2 C and rank r has the
// segments r and P - 1 - r. A query of segment a sees keys of the segments a - k to a,
//   k = min(P - 1, ceil((W - 1) / q)).
// A segment goes from rank to rank, one per step, as far as a query there sees it. It never goes
// round the whole ring. Step s brings the segments that are s ranks away:
//   up      segments of lower ranks (zig-zag: their first segments), i to i + 1: to ranks
//           s .. C - 1, s <= k
//   down    zig-zag: second segments of higher ranks, i to i - 1: to ranks 0 .. C - 1 - s, s <= k
//   turned  zig-zag: first segments of higher ranks, for the second segments of lower ranks, which
//           follow the middle of the sequence: of rank o while s <= 2 o + k - P + 1
// Round s of attention works on the segments that step s has brought, round 0 on the rank's own.
// The gradients of a segment go back along the same route, from the farthest rank to its own, and
// collect the contribution of every rank.
//
// Pairs of query and key are counted as everywhere (attention_pairs of model.h): by the area in
// which a query at x sees keys from x - W to x. With d = a - b, and G(u) the area of [0, q]^2
// in which x - y <= u,
//   pairs(a, b) = G(W - d q) - G(-d q)
//   G(u) = (q + u)^2 / 2 up to 0, q^2 - (q - u)^2 / 2 up to q, then q^2
// The segment at reach k has the rest of the total of its queries' segment, so that all pairs
// add up to it exactly.
#pragma once

#include <span>
#include <vector>

#include "workloads/work/attention_work.h"

namespace podsim::workloads {

/// True if queries of the layer see less than the sequence.
bool windowed(const Shard& shard, bool local);

/// Steps of a window's ring: which ranks send in a step, and which pairs of segments a rank
/// works on in a round.
class WindowRing {
public:
    /// Requires a causal layer with 0 < W < S and C > 1.
    explicit WindowRing(const Shard& shard);

    /// Returns how many segments a query sees in addition to its own.
    [[nodiscard]] int reach() const { return reach_; }
    /// Returns the number of steps, which is also that of attention rounds after the first.
    [[nodiscard]] int rounds() const;

    enum class Way { up, down, turned };
    static constexpr Way kWays[] = {Way::up, Way::down, Way::turned};
    /// Ranks that send in a step, each to the next rank (up) or the previous one;
    /// none if first > last.
    struct Senders {
        int first = 0;
        int last = -1;
        [[nodiscard]] int count() const { return last < first ? 0 : last - first + 1; }
    };
    [[nodiscard]] Senders senders(Way way, int step) const;

    /// Returns the pairs of segments that the rank's queries work on in a round;
    /// its own in round 0.
    [[nodiscard]] std::vector<PiecePair> pairs(int rank, int round) const;

private:
    int ranks_;
    int pieces_;  ///< segments of the sequence
    int reach_;
};

}  // namespace podsim::workloads
