#include "scenarios/console/stop_request.h"

#include <ctime>

namespace podsim::scenarios {

StopRequest::StopRequest() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

StopRequest::~StopRequest() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool StopRequest::requested() {
    if (!requested_) {
        const timespec at_once{};
        if (sigtimedwait(&signals_, nullptr, &at_once) > 0) {
            requested_ = true;
            pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
        }
    }
    return requested_;
}

}  // namespace podsim::scenarios
