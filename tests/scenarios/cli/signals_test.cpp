// Signals to the program. A scenario that is a pipe holds the program where a signal shall find it.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>

#include "scenarios/src/cli/run_command.h"
#include "scenarios/src/cli/stop_request.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kSmallStep =
    "name: small\n"
    "hardware: {chip: v5p, slice: 2x2x2}\n"
    "model: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 32Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

class Signals : public CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
        ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    }

    /// Starts the program with these arguments and the pipe, and returns when it has opened the
    /// pipe. `ignored` is a signal to ignore, as under nohup; 0 for none.
    void start(std::vector<std::string> args, int ignored = 0) {
        args.insert(args.begin(), program_path());
        args.push_back(path("pipe"));
        std::vector<char*> argv;
        for (std::string& arg : args) {
            argv.push_back(arg.data());
        }
        argv.push_back(nullptr);
        child_ = ::fork();
        if (child_ == 0) {
            if (ignored != 0) {
                ::signal(ignored, SIG_IGN);
            }
            std::freopen(path("out").c_str(), "w", stdout);
            std::freopen(path("err").c_str(), "w", stderr);
            ::execv(argv[0], argv.data());
            ::_exit(127);
        }
        writer_ = ::open(path("pipe").c_str(), O_WRONLY);  // waits for the reader
        ASSERT_GE(writer_, 0);
    }

    void send(int signal) const { ::kill(child_, signal); }

    /// Writes the scenario, if one is given, closes the pipe, and returns the exit status, -1
    /// without one.
    int end(const std::string& scenario = "") {
        if (!scenario.empty()) {
            EXPECT_EQ(::write(writer_, scenario.data(), scenario.size()),
                      static_cast<ssize_t>(scenario.size()));
            ::close(writer_);
        }
        int status = 0;
        ::waitpid(child_, &status, 0);
        if (scenario.empty()) {
            ::close(writer_);
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    [[nodiscard]] std::string said(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    pid_t child_ = 0;
    int writer_ = -1;
};

// Neither command polls: `show` has no watch, and the watch of `run` is not notified while a
// scenario is read.
TEST_F(Signals, EndWhateverWaits) {
    for (const char* const command : {"show", "run"}) {
        for (const auto& [signal, name, status] : {std::tuple(SIGINT, "SIGINT", 130),
                                                   {SIGTERM, "SIGTERM", 143},
                                                   {SIGHUP, "SIGHUP", 143}}) {
            start({command});
            send(signal);
            EXPECT_EQ(end(), status) << command << name;
            EXPECT_EQ(said("err"), std::string("podsim: stopped by ") + name + '\n') << command;
            EXPECT_EQ(said("out"), "");
        }
    }
}

/// A process that polls, but does not end.
void hear_two() {
    const StopRequest stop;
    ::raise(SIGTERM);
    if (stop.requested() && stop.status() == 143) {
        ::raise(SIGINT);
    }
    ::_exit(0);
}

TEST(SignalsDeathTest, ASecondOneEndsAtOnceWithTheStatusOfTheFirst) {
    EXPECT_EXIT(hear_two(), ::testing::ExitedWithCode(143), "^podsim: stopped by SIGTERM\n$");
}

/// Sends a signal twice, as timeout(1) does: to the process, and to its group.
void hear_one_twice() {
    const StopRequest stop;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    if (stop.status() == 143) {
        ::usleep(1000 * (StopRequest::kOneSignalMilliseconds + 10));
        static_cast<void>(!::write(STDERR_FILENO, "goes on\n", 8));
        ::raise(SIGTERM);
    }
    ::_exit(0);
}

TEST(SignalsDeathTest, TheSameAgainAtOnceIsTheSame) {
    EXPECT_EXIT(hear_one_twice(), ::testing::ExitedWithCode(143),
                "^goes on\npodsim: stopped by SIGTERM\n$");
}

/// A process that neither polls nor ends.
void hear_one() {
    const StopSignals signals;
    const StopRequest stop;
    ::raise(SIGINT);
    for (;;) {
        ::pause();
    }
}

TEST(SignalsDeathTest, WhatDoesNotLookHasAGrace) {
    EXPECT_EXIT(hear_one(), ::testing::ExitedWithCode(130), "^podsim: stopped by SIGINT\n$");
}

/// A process that has reported why it ends, and does not.
void hear_one_and_tell() {
    const StopSignals signals;
    const StopRequest stop;
    ::raise(SIGTERM);
    StopSignals::told();
    static_cast<void>(!::write(STDERR_FILENO, "stopped\n", 8));
    for (;;) {
        ::pause();
    }
}

TEST(SignalsDeathTest, WhatHasBeenToldIsNotToldAgain) {
    EXPECT_EXIT(hear_one_and_tell(), ::testing::ExitedWithCode(143), "^stopped\n$");
}

/// Writes more than a file may hold: 1024 bytes of 512.
void outgrow_a_file() {
    const StopSignals signals;
    const rlimit few{512, 512};
    ::setrlimit(RLIMIT_FSIZE, &few);
    const std::array<char, 1024> bytes{};
    std::FILE* const file = std::tmpfile();
    const ::ssize_t written = ::write(::fileno(file), bytes.data(), bytes.size());
    ::_exit(written == 512 && ::write(::fileno(file), bytes.data(), bytes.size()) < 0 ? errno : 0);
}

TEST(SignalsDeathTest, AFileThatOutgrowsItsLimitIsAnErrorOfWriting) {
    EXPECT_EXIT(outgrow_a_file(), ::testing::ExitedWithCode(EFBIG), "^$");
}

TEST_F(Signals, StayIgnoredWhereTheyWere) {
    start({"show"}, SIGHUP);
    send(SIGHUP);
    EXPECT_EQ(end(kSmallStep), 0) << said("err");
    EXPECT_THAT(said("out"), ::testing::HasSubstr("llama-3-8b"));
}

/// Requests a stop when the step is done and its explanation begins.
class SignalWhileExplaining final : public TimedWatch {
public:
    explicit SignalWhileExplaining(int after) : after_(after) {}

private:
    void show(const PhaseProgress& progress) override {
        if (progress.phase == Phase::explaining && after_-- == 0) {
            request_stop();
        }
    }
    std::atomic<int> after_;
};

TEST_F(Signals, AStepThatIsThereIsSaid) {
    const std::string file = write(kSmallStep);
    Usage options = run_usage();
    const std::vector<std::string> args = {file, "--trace", path("t.json")};
    options.parse(args);
    SignalWhileExplaining watch(0);
    const RunAnswer stopped = answer_run(options, file, watch);
    EXPECT_EQ(stopped.stopped_before, "gap, critical path and advice");
    const StepResult& step = std::get<StepResult>(stopped.result);
    const Outcome whole = podsim({"run", file, "--no-explain", "--json", "-"});
    nlohmann::json expected = nlohmann::json::parse(whole.out);
    nlohmann::json reached = nlohmann::json::parse(answer_json(stopped).dump());
    expected.erase("wall_time_s");
    reached.erase("wall_time_s");
    EXPECT_EQ(reached, expected);
    EXPECT_TRUE(step.gap.empty());
    EXPECT_THAT(answer_text(stopped, options),
                ::testing::HasSubstr("\nStopped: gap, critical path and advice left out\n"));
    EXPECT_FALSE(has_trail(stopped));
    write_trace(stopped, path("t.json"), Detail::steady);
    EXPECT_FALSE(std::filesystem::exists(path("t.json")));
}

}  // namespace
}  // namespace podsim::scenarios
