#include "workloads/work/window_ring.h"

#include <algorithm>
#include <cmath>

namespace podsim::workloads {

bool windowed(const Shard& shard, bool local) {
    return local && shard.window > 0 && shard.window < shard.sequence;
}

WindowRing::WindowRing(const Shard& shard)
    : ranks_(static_cast<int>(shard.context)),
      pieces_(static_cast<int>(shard.context * shard.pieces_of_rank())),
      reach_(shard.reach()) {}

int WindowRing::rounds() const {
    return std::min(reach_, ranks_ - 1);
}

WindowRing::Senders WindowRing::senders(Way way, int step) const {
    if (step > rounds() || (way != Way::up && pieces_ == ranks_)) {
        return {};
    }
    switch (way) {
        case Way::up:
            return {step - 1, ranks_ - 2};
        case Way::down:
            return {1, ranks_ - step};
        case Way::turned:
            break;
    }
    // Owners are o >= (step + P - 1 - k) / 2, rounded up, and the sender is step - 1 ranks away.
    const int owner = std::max(step, (step + pieces_ - reach_) / 2);
    return {owner - step + 1, ranks_ - step};
}

std::vector<PiecePair> WindowRing::pairs(int rank, int round) const {
    std::vector<int> queries{rank};
    std::vector<int> keys;
    const bool zig_zag = pieces_ > ranks_;
    const auto mirror = [&](int piece) { return pieces_ - 1 - piece; };
    if (rank >= round) {
        keys.push_back(rank - round);
    }
    if (zig_zag) {
        queries.push_back(mirror(rank));
        if (rank + round < ranks_) {
            keys.push_back(mirror(rank + round));
            if (round > 0) {
                keys.push_back(rank + round);
            }
        }
    }
    std::vector<PiecePair> pairs;
    for (const int query : queries) {
        for (const int key : keys) {
            if (key <= query && query - key <= reach_) {
                pairs.push_back({query, key});
            }
        }
    }
    return pairs;
}

}  // namespace podsim::workloads
