#include "scenarios/src/base/threads.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <new>
#include <sched.h>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "scenarios/src/base/memory_limit.h"

namespace podsim::scenarios {
namespace {

/// Each thread has its own pointer, so that two simulations in one process do not interfere.
thread_local ThreadPool* pool_of_this_thread = nullptr;

/// The smallest number that no other living thread has. Numbers do not grow although threads come
/// and go with every run.
class ThreadNumber {
public:
    ThreadNumber() {
        Taken& all = taken();
        const std::scoped_lock lock(all.mutex);
        while (all.numbers.contains(number_)) {
            ++number_;
        }
        all.numbers.insert(number_);
    }
    ~ThreadNumber() {
        Taken& all = taken();
        const std::scoped_lock lock(all.mutex);
        all.numbers.erase(number_);
    }
    ThreadNumber(const ThreadNumber&) = delete;
    ThreadNumber& operator=(const ThreadNumber&) = delete;

    [[nodiscard]] std::size_t get() const { return number_; }

private:
    struct Taken {
        std::mutex mutex{};
        std::set<std::size_t> numbers{};
    };
    /// The numbers are never destroyed, because threads may end later.
    static Taken& taken() {
        static Taken* const all = new Taken;
        return *all;
    }

    std::size_t number_ = 0;
};

}  // namespace

std::size_t thread_number() {
    thread_local const ThreadNumber number;
    return number.get();
}

int available_jobs(const std::string& root) {
    cpu_set_t cores;
    // The call fails if there are more cores than the set has room for.
    const int allowed = ::sched_getaffinity(0, sizeof cores, &cores) == 0
                            ? CPU_COUNT(&cores)
                            : static_cast<int>(std::thread::hardware_concurrency());
    const double most = std::min(std::ceil(cpu_quota(root)), static_cast<double>(allowed));
    return std::max(1, static_cast<int>(most));
}

int threads_with_room() {
    constexpr double kOfThread = 32e6;   // bytes: its stack, and its smallest working memory
    constexpr double kForThreads = 1e9;  // bytes of address space; below it there is one thread
    if (address_space_left() < kForThreads) {
        return 1;
    }
    return static_cast<int>(
        std::clamp(memory_limit() / kOfThread, 1.0, static_cast<double>(kMostJobs)));
}

/// Replaces Boost's own pool, which waits forever for its threads if one of them cannot be started
/// (1.74).
struct ThreadPool::Threads {
    explicit Threads(int wanted) {
        all.reserve(static_cast<std::size_t>(wanted));
        try {
            for (int i = 0; i < wanted; ++i) {
                all.emplace_back([this]() noexcept { context.run(); });
            }
        } catch (const std::system_error&) {  // keeps as many as there is room for
        } catch (const std::bad_alloc&) {
        }
    }
    /// Runs all posted work, and the work that it posts.
    void end() {
        more.reset();
        for (std::thread& each : all) {
            each.join();
        }
    }

    boost::asio::io_context context{};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> more{
        context.get_executor()};
    std::vector<std::thread> all{};
};

ThreadPool::ThreadPool(int threads) : threads_(std::make_unique<Threads>(threads)) {}

ThreadPool::~ThreadPool() {
    threads_->end();  // while `threads_` lives, because running work may still post
}

int ThreadPool::threads() const {
    return static_cast<int>(threads_->all.size());
}

void ThreadPool::post(std::function<void()> work) {
    if (!threads_->all.empty()) {
        boost::asio::post(threads_->context, [this, work = std::move(work)] {
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
    std::condition_variable changed{};  ///< a task has ended, or another one waits
    std::deque<std::function<void()>> waiting{};
    int running = 0;
    bool cancelled = false;

    /// Runs one of the waiting tasks; returns false if there is none.
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
        changed.notify_all();
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
        if (tasks_->cancelled) {
            return;
        }
        tasks_->waiting.push_back(std::move(task));
        tasks_->changed.notify_all();  // a waiting thread may take it
    }
    pool().post([tasks = tasks_] { tasks->run_one(); });
}

ThreadPool& TaskGroup::pool() {
    if (ThreadPool* const current = ThreadPool::current()) {
        return *current;
    }
    const std::scoped_lock lock(mutex_);
    if (!own_) {
        // The waiting thread works too.
        own_ = std::make_unique<ThreadPool>(std::min(available_jobs(), threads_with_room()) - 1);
    }
    return *own_;
}

void TaskGroup::cancel() {
    const std::scoped_lock lock(tasks_->mutex);
    tasks_->cancelled = true;
    tasks_->waiting.clear();
}

void TaskGroup::wait() {
    for (;;) {
        while (tasks_->run_one()) {
        }
        std::unique_lock lock(tasks_->mutex);
        tasks_->changed.wait(lock,
                             [&] { return tasks_->running == 0 || !tasks_->waiting.empty(); });
        if (tasks_->waiting.empty()) {
            return;
        }
    }
}

}  // namespace podsim::scenarios
