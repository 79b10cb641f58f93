#include "scenarios/python/background_watch.h"

#include <string>
#include <thread>
#include <utility>

namespace podsim::scenarios {

namespace py = pybind11;

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
    {
        const py::gil_scoped_release others_run;
        wait();
        worker.join();
    }
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
            continue;  // it has been asked to stop
        }
        const std::optional<PhaseProgress> news = std::exchange(latest_, std::nullopt);
        lock.unlock();
        refusal_ = look(news);
        if (refusal_) {
            request_stop();
        }
        lock.lock();
    }
}

std::exception_ptr BackgroundWatch::look(const std::optional<PhaseProgress>& news) {
    const py::gil_scoped_acquire lock;
    try {
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
        tell_python(news);
    } catch (const py::error_already_set&) {
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
