// Deals pieces of work to ranks as they ask for them; rank 0 has the results in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "scenarios/src/base/crew.h"
#include "scenarios/src/base/joined_ranks.h"
#include "scenarios/src/base/threads.h"

namespace podsim::scenarios {

struct Piece {
    std::size_t number = 0;
    std::string text{};
};

struct EndedPiece {
    std::size_t number = 0;
    std::string text{};  ///< its result, or the message of an exception from `work`
    bool failed = false;
};

/// Threads that work on pieces. One thread begins the pieces and takes their results.
class OwnThreads {
public:
    /// `work` may throw.
    OwnThreads(int threads, const std::function<std::string(const std::string&)>& work);
    /// Waits for the pieces under way.
    ~OwnThreads();
    OwnThreads(const OwnThreads&) = delete;
    OwnThreads& operator=(const OwnThreads&) = delete;

    /// Number of pieces begun whose results are not taken.
    [[nodiscard]] std::size_t pieces() const { return pieces_; }
    void begin(Piece piece);
    /// Takes a result. Waits half a millisecond at most, because messages of other ranks wait too.
    std::optional<EndedPiece> take();

private:
    const std::function<std::string(const std::string&)>& work_;
    std::size_t pieces_ = 0;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<EndedPiece> ended_;
    ThreadPool threads_;  ///< the last member: it ends before the members that its work uses
};

/// The work that the ranks do together. The functions may throw; `work` is called from several
/// threads at once.
struct SharedWork {
    int jobs = 1;  ///< threads of this rank
    /// Title of the work; all ranks must have the same.
    std::string title;
    /// Returns the result of a piece.
    std::function<std::string(const std::string&)> work;
    /// Asked between pieces; true at one rank stops all of them.
    std::function<bool()> stop;
};

/// Rank 0. It deals out pieces, works on pieces itself, and ends the other ranks when it ends.
/// Throws sim::InputError if a rank cannot take part (`give_up`, or another title),
/// std::runtime_error if `work` failed at one. After a stop at any rank no piece is dealt.
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

/// Any other rank. It works on the pieces that rank 0 deals to it until rank 0 ends it.
void take_part(Ranks& ranks, const SharedWork& shared);

/// Ends a rank that cannot take part: reports the reason to rank 0; at rank 0, ends the others.
void give_up(Ranks& ranks, const std::string& why);

}  // namespace podsim::scenarios
