// Pieces of work dealt out to ranks as they ask for them, their results in order at rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "scenarios/ranks/crew.h"
#include "scenarios/ranks/joined_ranks.h"

namespace podsim::scenarios {

/// What the ranks do together. The functions may throw; `work` is called from several threads at once.
struct SharedWork {
    int jobs = 1;       ///< threads of this rank
    std::string title;  ///< of the work; all ranks must have the same
    std::function<std::string(const std::string&)> work;  ///< the result of a piece
    std::function<bool()> stop;  ///< asked between pieces; true at one rank stops all of them
};

/// Rank 0: deals out pieces, works on some itself, and ends the others when it ends. Throws sim::InputError when a rank cannot
/// take part (`give_up`, or another title), std::runtime_error when `work` failed at one. After a stop at any rank nothing is dealt any more.
class Dealer final : public Crew {
public:
    Dealer(Ranks& ranks, SharedWork shared);
    ~Dealer() override;

    void run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
             const std::function<bool()>& stop,
             std::size_t waiting_per_thread = kWaitingPerThread) override;

private:
    class Team;
    std::unique_ptr<Team> team_;
};

/// Any other rank: works on what rank 0 deals to it, to the end.
void take_part(Ranks& ranks, const SharedWork& shared);

/// A rank that cannot take part: tells rank 0 why, or, at rank 0, ends the others.
void give_up(Ranks& ranks, const std::string& why);

}  // namespace podsim::scenarios
