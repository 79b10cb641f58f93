// A command whose work several processes share, started by mpirun.
#pragma once

#include <functional>
#include <memory>

#include "scenarios/console/stop_request.h"
#include "scenarios/console/usage.h"
#include "scenarios/ranks/joined_ranks.h"

namespace podsim::scenarios {

/// This process as one of them.
struct Team {
    Team() { stop.has_results(); }

    [[nodiscard]] bool leads() const { return ranks->rank() == 0; }
    /// The threads of this rank: as --jobs says, else its share of the machine's.
    [[nodiscard]] static int threads(const Usage& options);

    StopRequest stop;
    std::unique_ptr<Ranks> ranks = join_ranks();
    bool ended = false;  ///< whether the others are told to end, or this rank has been
};

/// Whether mpirun started several processes.
bool in_team();

/// Reads the options of a command that may be in a team: what is wrong with them says rank 0 alone. Whether there is anything to do.
bool parse_in_team(Usage& options, Arguments args);

/// Runs a command as one of a team. Errors of its input say rank 0 alone; another rank that has one tells it (give_up).
int run_in_team(const std::function<int(Team&)>& command);

}  // namespace podsim::scenarios
