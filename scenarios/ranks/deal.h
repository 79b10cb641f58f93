// Pieces of work dealt out to ranks as they ask for them, their results in order at rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "scenarios/ranks/joined_ranks.h"

namespace podsim::scenarios {

/// What the ranks do together. The functions may throw; `work` is called from several threads at once.
struct SharedWork {
    int jobs = 1;                                  ///< threads of this rank
    std::string title;                             ///< of the work; all ranks must have the same
    std::function<std::string(std::size_t)> work;  ///< the result of a piece
    std::function<bool()> stop;  ///< asked between pieces; true at one rank stops all of them
};

/// Rank 0: deals out the pieces first .. count - 1, works on some itself, and calls `done(i, result)`, in the order of i. Results wait
/// for earlier ones, at most four a thread, so that a killed run loses few. After a stop no piece is begun, and those under way are
/// finished. Throws sim::InputError when a rank cannot take part (`give_up`, or another title), std::runtime_error when `work` failed at one;
/// what `done` throws.
void deal_out(Ranks& ranks, std::size_t first, std::size_t count, const SharedWork& shared,
              const std::function<void(std::size_t, const std::string&)>& done);

/// Any other rank: works on what rank 0 deals to it, to the end.
void take_part(Ranks& ranks, const SharedWork& shared);

/// A rank that cannot take part: tells rank 0 why, or, at rank 0, ends the others.
void give_up(Ranks& ranks, const std::string& why);

}  // namespace podsim::scenarios
