// SIGINT (Ctrl-C), SIGTERM and SIGHUP: how they end a command, wherever it is.
#pragma once

#include <string>

namespace podsim::scenarios {

/// The program's answer to these signals while it lives: the process ends at once, with a line on standard error and the
/// status of the signal. A command that has something to say first asks by a StopRequest. Signals that were ignored when it was
/// made (nohup, a background job) stay ignored. A file that outgrows what one may hold (SIGXFSZ) is left to who writes it: an
/// error like that of a full disk. Of one process one, made before its threads.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// Why the process ends is about to be said: what ends it now says no more.
    static void told();
};

/// While it lives, the first of these signals only makes `requested` true. A second one ends the process at once (kOneSignalMilliseconds), and so, where
/// the program has StopSignals, does the end of a grace: what does not look has no say.
class StopRequest {
public:
    /// To say how far it is. The memory of a large step takes the rest of half a second to be given back.
    static constexpr int kGraceMilliseconds = 100;
    /// To say what was reached, where something was.
    static constexpr int kLongGraceMilliseconds = 300;
    /// The same of Ctrl-C: who waits before it presses it again where that is too long.
    static constexpr int kLongGraceOfSigint = 3000;
    /// The same signal twice within this time is one: timeout(1) sends it to the process, and to its group.
    static constexpr int kOneSignalMilliseconds = 100;

    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    /// From now on something is lost if it is not said.
    void has_results();
    /// Whether a signal has come. Callable from any thread.
    [[nodiscard]] bool requested() const;
    /// The exit status of that signal (exit_status.h).
    [[nodiscard]] int status() const;
};

}  // namespace podsim::scenarios
