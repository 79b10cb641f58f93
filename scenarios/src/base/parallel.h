// Runs independent pieces of work on several threads, with results in order; used by all studies.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "scenarios/src/base/threads.h"

namespace podsim::scenarios {

/// Calls `work(i)` for i = first .. count - 1 on `jobs` threads, or on fewer if memory has no room
/// for these. Calls the returned functions one at a time in the order of i. A result waits while an
/// earlier piece is still running; at most `waiting_per_thread` wait for each thread. Once `stop()`
/// is true no further piece begins, and those under way are finished. An exception has the same
/// effect: the first one, in the order of i, is rethrown at the end.
void run_pieces(std::size_t first, std::size_t count, int jobs,
                const std::function<std::function<void()>(std::size_t)>& work,
                const std::function<bool()>& stop, std::size_t waiting_per_thread);

/// Calls `done(i, result)` with the result of `work(i)`, likewise.
template <class Work, class Done, class Stop>
void run_in_order(std::size_t first, std::size_t count, int jobs, Work work, Done done, Stop stop,
                  std::size_t waiting_per_thread = 4) {
    using Result = decltype(work(first));
    run_pieces(
        first, count, jobs,
        [&](std::size_t i) -> std::function<void()> {
            return [&done, i, result = std::make_shared<Result>(work(i))] {
                done(i, std::move(*result));
            };
        },
        stop, waiting_per_thread);
}

}  // namespace podsim::scenarios
