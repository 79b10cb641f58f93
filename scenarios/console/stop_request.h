// Ctrl-C (SIGINT) and SIGTERM as a question that a long command asks between its pieces of work.
#pragma once

#include <atomic>
#include <csignal>

namespace podsim::scenarios {

/// While it lives, the first of these signals only makes `requested` true; after that the next one
/// ends the process as usual. It must be made before the threads that share the work, which inherit
/// the blocked signals.
class StopRequest {
public:
    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    /// Whether a signal has come. Callable from any thread.
    bool requested();

private:
    sigset_t signals_{};
    sigset_t before_{};
    std::atomic<bool> requested_ = false;
};

}  // namespace podsim::scenarios
