#include "scenarios/src/cli/stop_request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <string_view>
#include <unistd.h>

#include "scenarios/src/base/whole_file.h"
#include "scenarios/src/cli/exit_status.h"

namespace podsim::scenarios {
namespace {

constexpr long kMillisecondsOfSecond = 1000;
constexpr long kNanosecondsOfMillisecond = 1'000'000;

struct StopSignal {
    int number;
    int status;
    std::string_view message;
};

constexpr StopSignal kSignals[] = {
    {SIGINT, kInterrupted, "podsim: stopped by SIGINT\n"},
    {SIGTERM, kTerminated, "podsim: stopped by SIGTERM\n"},
    {SIGHUP, kTerminated, "podsim: stopped by SIGHUP\n"},
};

const StopSignal& of_number(int number) {
    return *std::ranges::find(kSignals, number, &StopSignal::number);
}

/// State of the signals of this process: handlers have no arguments, so there is one.
struct Heard {
    std::atomic<int> signal = 0;          ///< the first signal
    std::atomic<std::int64_t> at_ms = 0;  ///< its time
    std::atomic<int> asking = 0;          ///< living StopRequests
    std::atomic<int> listening = 0;       ///< these and StopSignals
    std::atomic<bool> guarded = false;
    std::atomic<bool> has_results = false;
    std::atomic<bool> told = false;
    bool terminal = false;  ///< true if standard error may hold a line of progress
    timer_t grace{};
    std::array<struct sigaction, std::size(kSignals)> before{};
    struct sigaction before_grace {};
    struct sigaction before_file_size {};
};
static_assert(std::atomic<int>::is_always_lock_free);

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): handlers have no arguments
Heard heard;

/// Ends the process from a handler: calls only async-signal-safe functions.
[[noreturn]] void end_now(int number) {
    while (a_file_is_being_named()) {
        // Another thread renames a file; it blocks signals until it is done.
    }
    const StopSignal& stop = of_number(number);
    const std::string_view wipe = heard.terminal && !heard.told ? "\r\x1b[K" : "";
    for (const std::string_view text : {wipe, heard.told ? "" : stop.message}) {
        static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    }
    ::_exit(stop.status);
}

std::int64_t now_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * kMillisecondsOfSecond +
           now.tv_nsec / kNanosecondsOfMillisecond;
}

void hear_signal(int number) {
    int none = 0;
    const bool first = heard.signal.compare_exchange_strong(none, number);
    if (first) {
        heard.at_ms = now_ms();
    }
    if (!first && heard.signal == number &&
        now_ms() - heard.at_ms < StopRequest::kOneSignalMilliseconds) {
        return;
    }
    if (!first || heard.asking == 0) {
        end_now(first ? number : heard.signal.load());
    }
    if (heard.guarded) {
        const long longest = number == SIGINT ? StopRequest::kLongGraceOfSigint
                                              : StopRequest::kLongGraceMilliseconds;
        const long milliseconds = heard.has_results ? longest : StopRequest::kGraceMilliseconds;
        const itimerspec grace{
            .it_interval = {},
            .it_value = {milliseconds / kMillisecondsOfSecond,
                         milliseconds % kMillisecondsOfSecond * kNanosecondsOfMillisecond}};
        ::timer_settime(heard.grace, 0, &grace, nullptr);
    }
}

void end_of_grace(int /*number*/) {
    end_now(heard.signal);
}

void handle(int number, void (*handler)(int), struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigfillset(&action.sa_mask);
    ::sigaction(number, &action, &before);
}

void listen() {
    if (heard.listening++ == 0) {
        heard.terminal = ::isatty(STDERR_FILENO) == 1;
        for (std::size_t i = 0; i < std::size(kSignals); ++i) {
            handle(kSignals[i].number, hear_signal, heard.before[i]);
            if (heard.before[i].sa_handler == SIG_IGN) {
                ::sigaction(kSignals[i].number, &heard.before[i], nullptr);
            }
        }
    }
}

void stop_listening() {
    if (--heard.listening == 0) {
        for (std::size_t i = 0; i < std::size(kSignals); ++i) {
            ::sigaction(kSignals[i].number, &heard.before[i], nullptr);
        }
        heard.signal = 0;
        heard.told = false;
    }
}

}  // namespace

StopSignals::StopSignals() {
    handle(SIGALRM, end_of_grace, heard.before_grace);
    handle(SIGXFSZ, SIG_IGN, heard.before_file_size);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    heard.guarded = ::timer_create(CLOCK_MONOTONIC, &event, &heard.grace) == 0;
    listen();
    sigset_t heard_signals;  // the parent process may have blocked them
    ::sigemptyset(&heard_signals);
    ::sigaddset(&heard_signals, SIGALRM);
    for (const StopSignal& stop : kSignals) {
        ::sigaddset(&heard_signals, stop.number);
    }
    ::pthread_sigmask(SIG_UNBLOCK, &heard_signals, nullptr);
}

StopSignals::~StopSignals() {
    if (heard.guarded.exchange(false)) {
        ::timer_delete(heard.grace);
    }
    ::sigaction(SIGALRM, &heard.before_grace, nullptr);
    ::sigaction(SIGXFSZ, &heard.before_file_size, nullptr);
    stop_listening();
}

void StopSignals::told() {
    heard.told = heard.listening > 0;
}

StopRequest::StopRequest() {
    ++heard.asking;
    listen();
}

StopRequest::~StopRequest() {
    stop_listening();
    if (--heard.asking == 0) {
        heard.has_results = false;
    }
}

void StopRequest::has_results() {
    heard.has_results = true;
}

bool StopRequest::requested() const {
    return heard.signal != 0;
}

int StopRequest::status() const {
    return requested() ? of_number(heard.signal).status : kDone;
}

}  // namespace podsim::scenarios
