// The processes of one command, started by mpirun, and the messages between them.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace podsim::scenarios {

/// The processes that mpirun started, as known before any of them joins the others.
struct Launch {
    int rank = 0;
    int size = 1;     ///< 1 without mpirun
    int on_host = 1;  ///< ranks on this machine
};

/// Reads Open MPI's environment variables, which mpirun sets.
Launch launch();

/// Returns the default number of threads of a rank: `threads`, which this process may use, but no
/// more than its fraction of the machine's processors.
int threads_of_rank(int threads, const Launch& launch);

struct Message {
    int from = 0;
    std::string text;
};

/// The ranks 0 .. size() - 1. Only the thread that joined may use them. The destructor leaves them
/// once all ranks do.
class Ranks {
public:
    Ranks() = default;
    virtual ~Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// Sends without waiting for rank `to`, which may itself be about to send: a long message stays
    /// here until it is received. Messages from one rank to another arrive in their order.
    virtual void send(int to, std::string text) = 0;
    /// Returns a message, if one has arrived.
    [[nodiscard]] virtual std::optional<Message> receive() = 0;
};

/// Joins the other ranks. Block those signals first that MPI's threads should block. Throws
/// sim::InputError if podsim was built without MPI.
std::unique_ptr<Ranks> join_ranks();

/// The name and the type of the module's function that joins.
inline constexpr const char* kJoinName = "podsim_join_ranks";
using JoinRanks = Ranks* (*)();

}  // namespace podsim::scenarios
