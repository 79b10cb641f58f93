// Independent pieces of work on several threads, their results in order: what studies share.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <optional>
#include <utility>

namespace podsim::scenarios {

inline constexpr int kMostJobs = 1024;

/// The cores that this process may use.
inline int available_jobs() {
    return tbb::info::default_concurrency();
}

/// Calls `work(i)` for i = first .. count - 1 on `jobs` threads and `done(i, result)` with each result,
/// one at a time in the order of i. A result waits while an earlier piece is still running; at most
/// `waiting_per_thread` a thread wait. When `stop()` is true no further piece is begun, and those under way are
/// finished. So it is after an exception: the first one, in the order of i, is rethrown at the end.
template <class Work, class Done, class Stop>
void run_in_order(std::size_t first, std::size_t count, int jobs, Work work, Done done, Stop stop,
                  std::size_t waiting_per_thread = 4) {
    using Result = decltype(work(first));
    struct Ordered {
        std::size_t index = 0;
        std::optional<Result> result;
        std::exception_ptr failure;
    };
    const auto threads = static_cast<std::size_t>(jobs);
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(jobs);
    std::size_t next = first;
    std::atomic<bool> failed = false;
    std::exception_ptr failure;
    const auto next_piece = [&](tbb::flow_control& flow) {
        if (next >= count || failed || stop()) {
            flow.stop();
            return count;
        }
        return next++;
    };
    const auto work_on = [&](std::size_t i) {
        Ordered piece{.index = i, .result = {}, .failure = {}};
        try {
            piece.result.emplace(work(i));
        } catch (...) {
            piece.failure = std::current_exception();
            failed = true;
        }
        return piece;
    };
    const auto finish = [&](Ordered piece) {
        if (failure) {
            return;
        }
        try {
            if (piece.failure) {
                std::rethrow_exception(piece.failure);
            }
            done(piece.index, *std::move(piece.result));
        } catch (...) {
            failure = std::current_exception();
            failed = true;
        }
    };
    arena.execute([&] {
        tbb::parallel_pipeline(
            waiting_per_thread * threads,
            tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, next_piece) &
                tbb::make_filter<std::size_t, Ordered>(tbb::filter_mode::parallel, work_on) &
                tbb::make_filter<Ordered, void>(tbb::filter_mode::serial_in_order, finish));
    });
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace podsim::scenarios
