// Independent pieces of work on several threads, their results in order: what studies share.
#pragma once

#include <cstddef>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <utility>

namespace podsim::scenarios {

inline constexpr int kMostJobs = 1024;

/// The cores that this process may use.
inline int available_jobs() {
    return tbb::info::default_concurrency();
}

/// Calls `work(i)` for i = first .. count - 1 on `jobs` threads and `done(i, result)` with each result,
/// one at a time in the order of i. A result waits while an earlier piece is still running; at most
/// four a thread wait. When `stop()` is true no further piece is begun, and those under way are
/// finished. An exception of any of them ends the run and is rethrown.
template <class Work, class Done, class Stop>
void run_in_order(std::size_t first, std::size_t count, int jobs, Work work, Done done, Stop stop) {
    constexpr std::size_t kWaitingPerThread = 4;
    using Result = decltype(work(first));
    using Piece = std::pair<std::size_t, Result>;
    const auto threads = static_cast<std::size_t>(jobs);
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(jobs);
    std::size_t next = first;
    arena.execute([&] {
        tbb::parallel_pipeline(
            kWaitingPerThread * threads,
            tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order,
                                                [&](tbb::flow_control& flow) {
                                                    if (next >= count || stop()) {
                                                        flow.stop();
                                                        return count;
                                                    }
                                                    return next++;
                                                }) &
                tbb::make_filter<std::size_t, Piece>(
                    tbb::filter_mode::parallel, [&](std::size_t i) { return Piece(i, work(i)); }) &
                tbb::make_filter<Piece, void>(tbb::filter_mode::serial_in_order, [&](Piece piece) {
                    done(piece.first, std::move(piece.second));
                }));
    });
}

}  // namespace podsim::scenarios
