// All parts of the player, for the files that compile it.
#pragma once

#include "sim/executor/play.h"
#include "sim/executor/player.h"
#include "sim/executor/player_links.h"
#include "sim/executor/player_memories.h"
#include "sim/executor/player_messages.h"
#include "sim/executor/player_tasks.h"

namespace podsim::sim {

template <class Pending>
ExecutionResult play(const Workload& workload, Observer* observer, bool reuse) {
    return Player<Pending>(workload, observer, reuse).run();
}

}  // namespace podsim::sim
