// The processes of one command, started by mpirun, and the messages between them.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace podsim::scenarios {

/// What mpirun says of the processes that it started, before any of them joins the others.
struct Launch {
    int rank = 0;
    int size = 1;     ///< 1 without mpirun
    int on_host = 1;  ///< ranks on this machine
};

/// Reads Open MPI's environment variables, which mpirun sets.
Launch launch();

/// The threads a rank takes unless told: `threads` this process may use, but no more than its share of the machine's processors.
int threads_of_rank(int threads, const Launch& launch);

struct Message {
    int from = 0;
    std::string text;
};

/// The ranks 0 .. size() - 1. Of one thread, the one that joined. Its end leaves them, when all do.
class Ranks {
public:
    Ranks() = default;
    virtual ~Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    /// Does not wait for rank `to`, which may itself be about to send: what is long stays here until it receives. Messages from
    /// one rank to another arrive in their order.
    virtual void send(int to, std::string text) = 0;
    /// A message, if one is there.
    [[nodiscard]] virtual std::optional<Message> receive() = 0;
};

/// Joins the others. Signals must be blocked before that are to be blocked in its threads. Throws sim::InputError where podsim
/// was built without MPI.
std::unique_ptr<Ranks> join_ranks();

/// The name under which the module has its function that joins, of this type.
inline constexpr const char* kJoinName = "podsim_join_ranks";
using JoinRanks = Ranks* (*)();

}  // namespace podsim::scenarios
