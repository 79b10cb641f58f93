// Threads of this process: a pool, tasks that share it, and one object for each thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace podsim::scenarios {

inline constexpr int kMostJobs = 1024;

/// Returns the number of cores that this process may use: by its affinity, and by the quota of its
/// control groups, rounded up to whole cores. `root` is that of cpu_quota.
int available_jobs(const std::string& root = "");

/// Returns the number of threads for which the memory limits have room, at least 1. Each has a
/// stack and working memory.
int threads_with_room();

/// Threads that run posted work in the order of posting.
class ThreadPool {
public:
    /// Starts fewer threads if the system refuses more. With 0 threads posted work does not run.
    explicit ThreadPool(int threads);
    /// Waits for all posted work.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] int threads() const;
    /// `work` must not throw.
    void post(std::function<void()> work);

    /// Returns the pool for which the calling thread works; nullptr without one.
    static ThreadPool* current();

    /// Makes the calling thread one that works for the pool, for its own lifetime.
    class Helping {
    public:
        explicit Helping(ThreadPool& pool);
        ~Helping();
        Helping(const Helping&) = delete;
        Helping& operator=(const Helping&) = delete;

    private:
        ThreadPool* before_;
    };

private:
    /// Boost.Asio's, whose headers are expensive.
    struct Threads;
    std::unique_ptr<Threads> threads_;
};

/// Tasks that run in parallel, on the caller's pool, or on all cores if it has none. A thread that
/// waits for them runs tasks of this group that no other thread has begun, and none of other
/// groups, so it never waits for a free thread.
class TaskGroup {
public:
    TaskGroup();
    /// Waits for the tasks that run.
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Begins a task, which must not throw. It may begin others of its group.
    void run(std::function<void()> task);
    /// Drops the tasks that have not begun, and those of later calls.
    void cancel();
    void wait();

private:
    struct Tasks;
    /// Returns the caller's pool, or this group's own.
    ThreadPool& pool();

    std::shared_ptr<Tasks> tasks_;
    std::mutex mutex_;
    std::unique_ptr<ThreadPool> own_;
};

/// Returns the number of the calling thread: the smallest that no other living thread has.
std::size_t thread_number();

/// One T for each thread, made on first use. The T of a thread that has ended passes to the next
/// one.
template <class T>
class PerThread {
public:
    std::shared_ptr<T> shared() {
        const std::scoped_lock lock(mutex_);
        std::shared_ptr<T>& one = of_[thread_number()];
        if (!one) {
            one = std::make_shared<T>();
        }
        return one;
    }
    T& local() { return *shared(); }

private:
    std::mutex mutex_;
    std::map<std::size_t, std::shared_ptr<T>> of_;
};

}  // namespace podsim::scenarios
