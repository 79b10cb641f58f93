// The reports of a long run on a terminal, and its end by Ctrl-C.
#include "scenarios/src/cli/terminal_watch.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sstream>
#include <utility>

#include "scenarios/src/cli/cli.h"

namespace podsim::scenarios {
namespace {

TEST(TerminalWatchTest, SaysHowFarTheRunIs) {
    const PhaseProgress quarter{.phase = Phase::simulating,
                                .share = 0.25,
                                .simulated = {250'000'000'000},
                                .events = 30'000'000,
                                .all_events = 120'000'000};
    // 30 million events in 2 s are 15 million a second; the other three quarters take 6 s.
    EXPECT_EQ(progress_line(quarter, 2),
              "[#######                       ] 25 %, at 0.25 s of simulated time, 15.0 million "
              "events/s, "
              "6 s left");
    const PhaseProgress all{
        .phase = Phase::simulating, .share = 1, .simulated = {1}, .events = 10, .all_events = 10};
    EXPECT_EQ(progress_line(all, 1),
              "[##############################] 100 %, at 1e-12 s of simulated time, 0.0 million "
              "events/s, "
              "0 s left");
}

TEST(TerminalWatchTest, DrawsOnTerminalsOnly) {
    std::ostringstream file;
    std::ostringstream terminal;
    {
        TerminalWatch quiet(file, false);
        quiet.tell({.phase = Phase::simulating,
                    .share = 0.25,
                    .simulated = {1},
                    .events = 1,
                    .all_events = 4});
        TerminalWatch drawn(terminal, true);
        drawn.tell({.phase = Phase::simulating,
                    .share = 0.25,
                    .simulated = {1},
                    .events = 1,
                    .all_events = 4});
        EXPECT_NE(terminal.str().find("] 25 %, at 1e-12 s"), std::string::npos);
    }
    EXPECT_EQ(file.str(), "");
    EXPECT_TRUE(terminal.str().ends_with("\r\x1b[K"));  // wiped
}

/// The watch is notified of a begin without events first, then of their number.
TEST(TerminalWatchTest, AnnouncesALongRunOnceInAFile) {
    std::ostringstream file;
    std::ostringstream terminal;
    TerminalWatch watch(file, false);
    TerminalWatch drawn(terminal, true);
    tell_begins(&watch, 2.5e9);
    tell_begins(&drawn, 2.5e9);
    for (const std::uint64_t events : {0, 1, 2}) {
        const PhaseProgress progress{.phase = Phase::simulating,
                                     .share = 0.25,
                                     .events = events,
                                     .all_events = events == 0 ? 0 : 1'500'000'000U};
        watch.tell(progress);
        drawn.tell(progress);
    }
    // 1.5e9 events at 5e6 a second are 300 s.
    const std::string said =
        "podsim: 1.5e+09 events to play, 5 min at 5 million a second, less where layers repeat; "
        "up to 2.500 GB of memory\n";
    EXPECT_EQ(file.str(), said);
    EXPECT_EQ(terminal.str().find("to play"), std::string::npos);
    EXPECT_EQ(announcement(1'500'000'001, 30e6),
              "podsim: 1.5e+09 events to play, 6 min at 5 million a second, less where layers "
              "repeat; up to 30.00 MB of memory\n");
    EXPECT_EQ(announcement(1'000'000, 1e9),
              "podsim: 1e+06 events to play, 1 min at 5 million a second, less where layers "
              "repeat; up to 1.000 GB of memory\n");
    EXPECT_EQ(announcement(149'999'999, 999e6), "");
}

TEST(TerminalWatchTest, CtrlCEndsTheRunWithWhatWasReached) {
    std::ostringstream out;
    TerminalWatch watch(out, false);
    const PhaseProgress reached{.phase = Phase::simulating,
                                .share = 0.25,
                                .simulated = {500'000'000'000},
                                .events = 3'000'000,
                                .all_events = 12'000'000};
    EXPECT_NO_THROW(watch.tell(reached));
    ::raise(SIGINT);
    try {
        watch.tell(reached);
        FAIL() << "the run goes on";
    } catch (const Interrupted& error) {
        EXPECT_EQ(std::string(error.what()),
                  "stopped after 0.0 s at 0.5 s of simulated time, 3e+06 of 1.2e+07 events (25 %); "
                  "a run that "
                  "has not ended has no result");
    }
}

// By then the step itself is simulated; the progress of one run behind its gap says nothing
// about it.
TEST(TerminalWatchTest, CtrlCWhileExplainingIsSaidToBeThat) {
    std::ostringstream out;
    TerminalWatch watch(out, false);
    ::raise(SIGINT);
    try {
        watch.tell({.phase = Phase::explaining,
                    .share = 0.25,
                    .simulated = {1},
                    .events = 1,
                    .all_events = 4});
        FAIL() << "the run goes on";
    } catch (const Interrupted& error) {
        EXPECT_EQ(std::string(error.what()),
                  "stopped after 0.0 s while explaining; a run that has not ended has no result");
    }
}

/// A run of several million hops with a pending signal ends at its first report.
TEST(TerminalWatchTest, TheCommandEndsWithTheStatusOfTheSignal) {
    const std::vector<std::string> args = {
        "collective", "--chip", "v5p",     "--slice", "16x16x16", "--op", "all-gather",
        "--axes",     "xyz",    "--bytes", "1e9",     "--fold",   "off"};
    for (const auto& [signal, status] : {std::pair(SIGINT, 130), {SIGTERM, 143}, {SIGHUP, 143}}) {
        const StopRequest listening;  // the signal comes before the command's own watch
        ::raise(signal);
        std::ostringstream out;
        std::ostringstream err;
        EXPECT_EQ(run_command(args, out, err), status);
        EXPECT_EQ(out.str(), "");
        EXPECT_TRUE(err.str().starts_with("podsim collective: stopped after ")) << err.str();
    }
}

/// A QuietWatch that withholds reports still polls for signals at each.
TEST(TerminalWatchTest, PiecesEndWithTheirWatch) {
    std::ostringstream out;
    TerminalWatch watch(out, false);
    QuietWatch pieces(&watch);
    PhaseWatch runs(&pieces, Phase::explaining);
    EXPECT_NO_THROW(runs.tell({}));
    ::raise(SIGTERM);
    EXPECT_THROW(runs.tell({}), Stopped);
    EXPECT_EQ(watch.stop_status(), 143);
}

}  // namespace
}  // namespace podsim::scenarios
