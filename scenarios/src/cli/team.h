// A command whose work is shared by several processes, started by mpirun.
#pragma once

#include <functional>
#include <memory>

#include "scenarios/src/base/joined_ranks.h"
#include "scenarios/src/cli/stop_request.h"
#include "scenarios/src/cli/usage.h"

namespace podsim::scenarios {

/// This process as one rank of a team.
struct Team {
    Team() { stop.has_results(); }

    [[nodiscard]] bool leads() const { return ranks->rank() == 0; }
    /// Returns the threads of this rank: those of --jobs, else its fraction of the machine's.
    [[nodiscard]] static int threads(const Usage& options);

    StopRequest stop;
    std::unique_ptr<Ranks> ranks = join_ranks();
    /// True if the other ranks are notified of the end, or this rank has been.
    bool ended = false;
};

/// True if mpirun started several processes.
bool in_team();

/// Reads the options of a command that may be in a team; only rank 0 reports their errors. Returns
/// false if there is nothing to do.
bool parse_in_team(Usage& options, Arguments args);

/// Runs a command as one rank of a team. Only rank 0 reports errors of the input; any other rank
/// that has one notifies it (give_up).
int run_in_team(const std::function<int(Team&)>& command);

}  // namespace podsim::scenarios
