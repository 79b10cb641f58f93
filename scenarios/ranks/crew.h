// Who works on the pieces of one command: the threads of this process, or several ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace podsim::scenarios {

class Crew {
public:
    /// What there is to do of a number, as a text that whoever works on it understands. Nothing: nothing, and the result is empty.
    /// Asked when its turn comes, of threads from several at once.
    using Piece = std::function<std::optional<std::string>(std::size_t)>;
    using Done = std::function<void(std::size_t, const std::string&)>;
    /// How many results wait for an earlier one, a thread; no piece is begun beyond.
    static constexpr std::size_t kWaitingPerThread = 4;

    Crew() = default;
    virtual ~Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Has the pieces first .. count - 1 worked on and calls `done(i, result)`, one at a time in the order of i. When `stop()` is true
    /// no further piece is begun, and those under way are finished. Throws what `piece`, the work or `done` throws.
    virtual void run(std::size_t first, std::size_t count, const Piece& piece, const Done& done,
                     const std::function<bool()>& stop,
                     std::size_t waiting_per_thread = kWaitingPerThread) = 0;
};

}  // namespace podsim::scenarios
