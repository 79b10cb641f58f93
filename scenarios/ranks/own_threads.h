// The threads of one rank.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "scenarios/ranks/threads.h"

namespace podsim::scenarios {

struct Piece {
    std::size_t number = 0;
    std::string text{};
};

struct EndedPiece {
    std::size_t number = 0;
    std::string text{};  ///< its result, or what `work` threw
    bool failed = false;
};

/// Begun and taken by one thread.
class OwnThreads {
public:
    /// `work` may throw.
    OwnThreads(int threads, const std::function<std::string(const std::string&)>& work);
    /// Waits for what is under way.
    ~OwnThreads();
    OwnThreads(const OwnThreads&) = delete;
    OwnThreads& operator=(const OwnThreads&) = delete;

    /// Pieces begun whose results are not taken.
    [[nodiscard]] std::size_t pieces() const { return pieces_; }
    void begin(Piece piece);
    /// Waits half a millisecond at most: messages of other ranks wait, too.
    std::optional<EndedPiece> take();

private:
    const std::function<std::string(const std::string&)>& work_;
    std::size_t pieces_ = 0;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<EndedPiece> ended_;
    ThreadPool threads_;  ///< the last one: it ends before what its work needs
};

}  // namespace podsim::scenarios
