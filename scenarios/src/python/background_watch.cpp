#include "scenarios/src/python/background_watch.h"

#include <string>
#include <thread>
#include <utility>

namespace podsim::scenarios {

namespace py = pybind11;

namespace {

/// Ends the work and waits for it, however this scope is left: at its own end the interpreter ends
/// the threads that ask for its lock, by unwinding them.
class EndsWork {
public:
    EndsWork(Watch& watch, std::thread& worker) : watch_(watch), worker_(worker) {}
    ~EndsWork() {
        if (worker_.joinable()) {
            watch_.request_stop();
            worker_.join();
        }
    }
    EndsWork(const EndsWork&) = delete;
    EndsWork& operator=(const EndsWork&) = delete;

private:
    Watch& watch_;
    std::thread& worker_;
};

/// The interpreter's lock, for the thread that released it as `python`. When the interpreter ends,
/// Python ends this thread instead of giving it the lock. py::gil_scoped_acquire would first ask
/// for the thread's state, which is gone then, and make a new one in the remains of the
/// interpreter.
class Lock {
public:
    explicit Lock(PyThreadState*& python) : python_(python) { PyEval_RestoreThread(python); }
    ~Lock() { python_ = PyEval_SaveThread(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    PyThreadState*& python_;
};

}  // namespace

void BackgroundWatch::run(const std::function<void()>& work) {
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        ended_.notify_all();
    });
    // py::gil_scoped_release is not used: it asks for the lock again while its thread is unwound.
    python_ = PyEval_SaveThread();
    {
        const EndsWork ends(*this, worker);
        wait();
        worker.join();
    }
    PyEval_RestoreThread(python_);
    if (refusal_) {
        std::rethrow_exception(refusal_);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    tell_python(latest_);
}

void BackgroundWatch::wait() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kBetweenLooks, [&] { return done_; })) {
        if (refusal_) {
            continue;  // the simulation has been asked to stop
        }
        const std::optional<PhaseProgress> news = std::exchange(latest_, std::nullopt);
        lock.unlock();
        refusal_ = pass_on(news);
        if (refusal_) {
            request_stop();
        }
        lock.lock();
    }
}

std::exception_ptr BackgroundWatch::pass_on(const std::optional<PhaseProgress>& news) {
    const Lock lock(python_);
    try {
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
        tell_python(news);
    } catch (const std::exception&) {
        return std::current_exception();
    }
    return {};
}

void BackgroundWatch::tell_python(const std::optional<PhaseProgress>& news) {
    if (news && !progress_.is_none()) {
        progress_(std::string(to_string(news->phase)), news->share, news->simulated.seconds(),
                  news->events, news->all_events);
    }
}

void BackgroundWatch::show(const PhaseProgress& progress) {
    const std::lock_guard lock(mutex_);
    latest_ = progress;
}

}  // namespace podsim::scenarios
