// The chunks into which a part of a collective is cut, as the brute force has them: written anew, not taken from parts.h.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

struct BruteForceChunks {
    std::vector<int> sizes;  ///< in units
    bool waves = false;      ///< some go before all others
};

/// As many as a member's block holds a hop's bytes, from half of the most up to that.
inline int alike_chunks(const Case& c) {
    int chunks = c.options.alike_chunks;
    const double block = c.v.value() / group_size(c.group);
    while (2 * (chunks - 1) >= c.options.alike_chunks &&
           chunks * c.options.hop_bytes.value() > block) {
        --chunks;
    }
    return chunks;
}

/// In one order, and in two along lines, chunks are alike; else they double, but what many orders reduce along lines goes in waves.
inline BruteForceChunks brute_force_chunks(const Case& c, std::size_t orders, bool rings) {
    const bool in_phases = c.group.size() > 1 && c.algorithm == Algorithm::weighted;
    BruteForceChunks chunks;
    chunks.waves = orders > 2 && !rings && c.operation != Operation::all_gather;
    const bool grow = !chunks.waves && orders > 1 && (orders > 2 || rings);
    const int count = orders == 1 && !in_phases ? 1
                      : chunks.waves            ? c.options.chunks_in_waves
                      : grow                    ? c.options.chunks
                                                : alike_chunks(c);
    for (int chunk = 0; chunk < count; ++chunk) {
        const bool grows = grow && chunk > 0 && chunk + 1 < count;
        chunks.sizes.push_back(chunk == 0 ? 1 : chunks.sizes.back() * (grows ? 2 : 1));
    }
    return chunks;
}

}  // namespace podsim::collectives
