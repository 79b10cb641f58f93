#include "scenarios/ranks/threads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "scenarios/watch/memory_limit.h"

namespace podsim::scenarios {
namespace {

/// Of this thread alone, so that two simulations in one process do not meet.
thread_local ThreadPool* pool_of_this_thread = nullptr;

}  // namespace

int available_jobs() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

int threads_with_room() {
    constexpr double kOfThread = 32e6;   // bytes: its stack, and what it works with at the least
    constexpr double kForThreads = 1e9;  // bytes of address space: with less there is one thread
    if (address_space_left() < kForThreads) {
        return 1;
    }
    return static_cast<int>(
        std::clamp(memory_limit() / kOfThread, 1.0, static_cast<double>(kMostJobs)));
}

struct ThreadPool::Threads {
    explicit Threads(int threads) : pool(static_cast<std::size_t>(threads)) {}
    ~Threads() { pool.join(); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    boost::asio::thread_pool pool;
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? std::make_unique<Threads>(threads) : nullptr) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::post(std::function<void()> work) {
    if (threads_) {
        boost::asio::post(threads_->pool, [this, work = std::move(work)] {
            const Helping helping(*this);
            work();
        });
    }
}

ThreadPool* ThreadPool::current() {
    return pool_of_this_thread;
}

ThreadPool::Helping::Helping(ThreadPool& pool)
    : before_(std::exchange(pool_of_this_thread, &pool)) {}

ThreadPool::Helping::~Helping() {
    pool_of_this_thread = before_;
}

struct TaskGroup::Tasks {
    std::mutex mutex{};
    std::condition_variable ended{};
    std::deque<std::function<void()>> waiting{};
    int running = 0;

    /// Runs one of those that wait; false without one.
    bool run_one() {
        std::unique_lock lock(mutex);
        if (waiting.empty()) {
            return false;
        }
        const std::function<void()> task = std::move(waiting.front());
        waiting.pop_front();
        ++running;
        lock.unlock();
        task();
        lock.lock();
        --running;
        ended.notify_all();
        return true;
    }
};

TaskGroup::TaskGroup() : tasks_(std::make_shared<Tasks>()) {}

TaskGroup::~TaskGroup() {
    wait();
}

void TaskGroup::run(std::function<void()> task) {
    {
        const std::scoped_lock lock(tasks_->mutex);
        tasks_->waiting.push_back(std::move(task));
    }
    pool().post([tasks = tasks_] { tasks->run_one(); });
}

ThreadPool& TaskGroup::pool() {
    if (ThreadPool* const current = ThreadPool::current()) {
        return *current;
    }
    const std::scoped_lock lock(mutex_);
    if (!own_) {
        // The one that waits works, too.
        own_ = std::make_unique<ThreadPool>(std::min(available_jobs(), threads_with_room()) - 1);
    }
    return *own_;
}

void TaskGroup::cancel() {
    const std::scoped_lock lock(tasks_->mutex);
    tasks_->waiting.clear();
}

void TaskGroup::wait() {
    for (;;) {
        while (tasks_->run_one()) {
        }
        std::unique_lock lock(tasks_->mutex);
        tasks_->ended.wait(lock, [&] { return tasks_->running == 0 || !tasks_->waiting.empty(); });
        if (tasks_->waiting.empty()) {
            return;
        }
    }
}

}  // namespace podsim::scenarios
