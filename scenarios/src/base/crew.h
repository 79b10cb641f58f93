// Workers for the pieces of one command: the threads of this process, or several ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace podsim::scenarios {

class Crew {
public:
    /// Returns the work of piece i as a text that the workers understand; nothing if there is none,
    /// and the result is then empty. Called just before the piece begins, by threads from several
    /// at once.
    using Piece = std::function<std::optional<std::string>(std::size_t)>;
    using Done = std::function<void(std::size_t, const std::string&)>;
    /// Limit, per thread, of the results that wait for an earlier one; no piece begins beyond it.
    static constexpr std::size_t kWaitingPerThread = 4;

    Crew() = default;
    virtual ~Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Works on the pieces first .. count - 1 and calls `done(i, result)`, one at a time in the
    /// order of i. Once `stop()` is true no further piece begins, and those under way are finished.
    /// Throws any exception of `piece`, of the work and of `done`.
    virtual void run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
                     const std::function<bool()>& stop,
                     std::size_t waiting_per_thread = kWaitingPerThread) = 0;
};

}  // namespace podsim::scenarios
