#include "scenarios/src/cli/team.h"

#include <optional>

#include "scenarios/src/base/deal.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/exit_status.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

int Team::threads(const Usage& options) {
    const int jobs = parse_jobs(options);
    return options.has("jobs") ? jobs : threads_of_rank(jobs, launch());
}

bool in_team() {
    return launch().size > 1;
}

bool parse_in_team(Usage& options, Arguments args) {
    const bool silent = launch().rank > 0;  // rank 0 was given the same arguments
    try {
        options.parse(args);
    } catch (const sim::InputError&) {
        if (silent) {
            return false;
        }
        throw;
    }
    return !silent || !options.wants_help();
}

int run_in_team(const std::function<int(Team&)>& command) {
    const bool first = launch().rank == 0;
    std::optional<Team> team;
    try {
        team.emplace();
    } catch (const sim::InputError&) {
        if (first) {
            throw;
        }
        return kDone;
    }
    try {
        return command(*team);
    } catch (const std::exception& error) {
        if (!team->ended) {
            give_up(*team->ranks, error.what());
        }
        if (first) {
            throw;
        }
    }
    return kDone;
}

}  // namespace podsim::scenarios
