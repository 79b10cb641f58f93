// Threads of this process: a pool, tasks that share it, and an object for each thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace podsim::scenarios {

inline constexpr int kMostJobs = 1024;

/// The cores that this process may use: by its affinity, and by the quota of its control groups, a started core counted whole. `root` as of
/// cpu_quota.
int available_jobs(const std::string& root = "");

/// The threads that the limits of memory have room for: each has a stack, and something to work with. At least 1.
int threads_with_room();

/// Threads that run what is posted, in the order of posting.
class ThreadPool {
public:
    /// Fewer where the system starts no more. May be 0: nothing that is posted runs then.
    explicit ThreadPool(int threads);
    /// Waits for all that was posted.
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] int threads() const;
    /// `work` must not throw.
    void post(std::function<void()> work);

    /// The pool that the calling thread works for; nullptr without one.
    static ThreadPool* current();

    /// The calling thread works for the pool, too, while this lives.
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
    struct Threads;  ///< Boost.Asio's, whose headers are dear
    std::unique_ptr<Threads> threads_;
};

/// Tasks that run beside each other: on the pool that the caller works for, where there is none on all cores. A thread that
/// waits for them runs those that no other has begun, and no tasks of other groups, so it never waits for a free thread.
class TaskGroup {
public:
    TaskGroup();
    /// Waits for what runs.
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Begins a task, which must not throw. It may begin others of its group.
    void run(std::function<void()> task);
    /// Tasks that have not begun will not, nor those of later calls.
    void cancel();
    void wait();

private:
    struct Tasks;
    /// That of the caller, or an own one.
    ThreadPool& pool();

    std::shared_ptr<Tasks> tasks_;
    std::mutex mutex_;
    std::unique_ptr<ThreadPool> own_;
};

/// That of the calling thread: the smallest that no other living one has.
std::size_t thread_number();

/// A T for each thread that asks, made when it first does; of one that has ended the next has it.
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
