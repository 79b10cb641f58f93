// Ring attention to a window: keys and values go only as far as queries see them (window_ring.h), under the attention to
// what came before.
//
// Forward: round 0, on the chip's own keys; then round s behind the steps s. A step depends on the one that brought what
// it passes on alone.
// Backward the same steps, and round 0; then the rounds from the farthest back. A piece's gradients begin at the farthest
// rank that sees it, each round's part adds to what has come of the round before, and the step back takes the sum one rank
// nearer to its own, which adds its share, computed first. So the steps back run under attention, too, but for the last.
// Held: forward what a step brings twice, at work and under way; backward all of it until its round, and of
// gradients twice a step's.
// V of a step, as an AllGather counts it (n - 1 times V moves over all links of a group): bytes x senders / (n - 1).
#pragma once

#include <string_view>
#include <vector>

#include "workloads/builder/matmul_overlap.h"
#include "workloads/work/window_ring.h"

namespace podsim::workloads {

class WindowAttention {
public:
    WindowAttention(const Shard& shard, const OpNames& names, Chain& chain, HeldBuffers& buffers)
        : shard_(shard), names_(names), chain_(chain), buffers_(buffers) {}

    /// Attention, or its gradient, between the steps that bring its pending keys and values. `part` by round; nothing
    /// where the chip's queries see nothing of what came.
    Tensor over_window(std::string_view what, const WindowRing& ring, const Arriving& keys,
                       const Sources& others, const PartOf& part, bool gradient);

private:
    /// A step of one way of a window's ring.
    struct Shift {
        WindowRing::Way way{};
        int step = 0;
        WindowRing::Senders senders;
        double bytes = 0;  ///< of one piece
    };
    using Rounds = std::vector<std::vector<Shift>>;
    /// The steps of each round that some rank sends.
    [[nodiscard]] Rounds shifts_of(const WindowRing& ring, double piece) const;
    OpIndex shift(std::string_view what, const Shift& shift, bool back, Chain::Waits waits);
    /// Holds what the steps of all rounds bring, from operation `first` until the last of `came`; with `passed_on`, the
    /// last steps back, the gradients too.
    void hold_rounds(const Rounds& shifts, double piece, OpIndex first, const Sources& came,
                     const Sources* passed_on);

    const Shard& shard_;
    const OpNames& names_;
    Chain& chain_;
    HeldBuffers& buffers_;
};

}  // namespace podsim::workloads
