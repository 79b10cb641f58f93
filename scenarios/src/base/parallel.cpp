#include "scenarios/src/base/parallel.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace podsim::scenarios {
namespace {

/// Pieces that several threads begin in order, and their results until they are due.
class Pieces {
public:
    Pieces(std::size_t first, std::size_t count, std::size_t most_ahead,
           const std::function<std::function<void()>(std::size_t)>& work,
           const std::function<bool()>& stop)
        : work_(work),
          stop_(stop),
          next_(first),
          due_(first),
          count_(count),
          most_ahead_(most_ahead) {}

    /// Works on the next piece as soon as it may begin; returns false if there are no more.
    bool work_on_one() {
        std::unique_lock lock(mutex_);
        moved_.wait(lock, [&] { return ended() || next_ - due_ < most_ahead_; });
        const std::size_t piece = next_;
        try {
            if (ended() || stop_()) {
                return false;
            }
            results_.try_emplace(piece);  // the last step that may fail before the piece begins
        } catch (...) {
            failed_ = true;
            stopped_by_ = std::current_exception();
            moved_.notify_all();
            return false;
        }
        ++next_;
        lock.unlock();
        std::function<void()> done;
        std::exception_ptr failure;
        try {
            done = work_(piece);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        failed_ = failed_ || failure != nullptr;
        Result& result = results_.at(piece);
        result.done.swap(done);
        result.failure = failure;
        result.ready = true;
        hand_over(lock);
        return true;
    }

    /// Returns the first failure in the order of the pieces. Valid once all have ended.
    [[nodiscard]] std::exception_ptr failure() const { return failure_ ? failure_ : stopped_by_; }

private:
    struct Result {
        std::function<void()> done{};
        std::exception_ptr failure{};
        bool ready = false;
    };

    [[nodiscard]] bool ended() const { return next_ >= count_ || failed_; }

    /// Calls `done` of the results that are due, from one thread at a time.
    void hand_over(std::unique_lock<std::mutex>& lock) {
        for (;;) {
            const auto next = results_.find(due_);
            if (handing_ || next == results_.end() || !next->second.ready) {
                return;
            }
            const Result result = std::move(next->second);
            results_.erase(next);
            handing_ = true;
            std::exception_ptr failure = result.failure;
            if (!failure && !failure_) {
                lock.unlock();
                try {
                    result.done();
                } catch (...) {
                    failure = std::current_exception();
                }
                lock.lock();
            }
            if (failure && !failure_) {
                failure_ = failure;
                failed_ = true;
            }
            handing_ = false;
            ++due_;
            moved_.notify_all();
        }
    }

    const std::function<std::function<void()>(std::size_t)>& work_;
    const std::function<bool()>& stop_;
    std::mutex mutex_{};
    std::condition_variable moved_{};  ///< a result has been handed over
    std::size_t next_;                 ///< the next piece to begin
    std::size_t due_;                  ///< the piece whose result is handed over next
    const std::size_t count_;
    const std::size_t most_ahead_;
    std::map<std::size_t, Result> results_{};
    bool handing_ = false;
    bool failed_ = false;
    std::exception_ptr failure_{};
    std::exception_ptr stopped_by_{};  ///< the failure that kept a piece from beginning
};

/// Works on pieces, one at a time, so that other tasks in the pool run in between.
void work_on(Pieces& pieces, ThreadPool& pool) {
    while (pieces.work_on_one()) {
        try {
            pool.post([&] { work_on(pieces, pool); });
            return;
        } catch (const std::bad_alloc&) {  // goes on without a break
        }
    }
}

}  // namespace

void run_pieces(std::size_t first, std::size_t count, int jobs,
                const std::function<std::function<void()>(std::size_t)>& work,
                const std::function<bool()>& stop, std::size_t waiting_per_thread) {
    const int threads = std::min(jobs, threads_with_room());
    Pieces pieces(first, count, waiting_per_thread * static_cast<std::size_t>(threads), work, stop);
    {
        ThreadPool others(threads - 1);
        for (int i = 1; i < threads; ++i) {
            others.post([&] { work_on(pieces, others); });
        }
        const ThreadPool::Helping helping(others);
        while (pieces.work_on_one()) {
        }
    }
    if (pieces.failure()) {
        std::rethrow_exception(pieces.failure());
    }
}

}  // namespace podsim::scenarios
