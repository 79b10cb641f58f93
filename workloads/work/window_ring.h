// Ring attention of a layer whose queries see a window of W last keys: which pieces of keys and values go where, and
// which queries of a rank see them. Pure geometry.
//
// A sequence of S tokens lies on C ranks in P pieces of q = S / P keys: plain placement P = C, rank r has piece r;
// zig-zag P = 2 C, rank r has the pieces r and P - 1 - r. A query of piece a sees keys of the pieces a - k to a,
//   k = min(P - 1, ceil((W - 1) / q)).
// A piece goes from rank to rank, one a step, as far as a query there sees it, and no further: never round the ring.
// Step s brings what is s ranks away:
//   up      pieces of lower ranks (zig-zag: their first pieces), i to i + 1: to ranks s .. C - 1, s <= k
//   down    zig-zag: second pieces of higher ranks, i to i - 1: to ranks 0 .. C - 1 - s, s <= k
//   turned  zig-zag: first pieces of higher ranks, for the second pieces of lower ones, which come behind the middle
//           of the sequence: of rank o while s <= 2 o + k - P + 1
// and round s of attention works on what it has brought, round 0 on the rank's own. The gradients of a piece go back the
// same way, from the farthest rank to its own, and gather every rank's share.
//
// Pairs of query and key are counted as everywhere (attention_pairs of model.h): the area in which a query at x sees
// keys from x - W to x. With d = a - b and G(u) the area of [0, q]^2 where x - y <= u,
//   pairs(a, b) = G(W - d q) - G(-d q),   G(u) = (q + u)^2 / 2 up to 0, q^2 - (q - u)^2 / 2 up to q, then q^2
// and the piece at reach k has what is left of the piece's total, so that all add up to it exactly.
#pragma once

#include <span>
#include <vector>

#include "workloads/work/attention_work.h"

namespace podsim::workloads {

/// Whether queries of the layer see less than the sequence.
bool windowed(const Shard& shard, bool local);

class WindowRing {
public:
    /// Of a causal layer with 0 < W < S and C > 1.
    explicit WindowRing(const Shard& shard);

    /// Pieces that a query sees beside its own.
    [[nodiscard]] int reach() const { return reach_; }
    /// Steps, and rounds of attention behind the first.
    [[nodiscard]] int rounds() const;

    enum class Way { up, down, turned };
    static constexpr Way kWays[] = {Way::up, Way::down, Way::turned};
    /// The ranks that send in a step, each to the next (up) or the one before it; none: first > last.
    struct Senders {
        int first = 0;
        int last = -1;
        [[nodiscard]] int count() const { return last < first ? 0 : last - first + 1; }
    };
    [[nodiscard]] Senders senders(Way way, int step) const;

    /// The pairs of pieces that the rank's queries work on in a round; round 0: its own.
    [[nodiscard]] std::vector<PiecePair> pairs(int rank, int round) const;

private:
    int ranks_;
    int pieces_;  ///< of the sequence
    int reach_;
};

}  // namespace podsim::workloads
