// The thread pool: tasks that share it, results in order, and a pool without threads of its own.
#include "scenarios/src/base/threads.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/src/base/deal.h"
#include "scenarios/src/base/parallel.h"

namespace podsim::scenarios {
namespace {

/// Orders tasks without a clock: a failing test hangs until its time limit, and never passes
/// by luck.
class Gate {
public:
    void open() { open_.set_value(); }
    void wait() const { seen_.wait(); }

private:
    std::promise<void> open_{};
    std::shared_future<void> seen_ = open_.get_future().share();
};

TEST(TaskGroup, EndsWhereThePoolHasNoThread) {
    ThreadPool pool(0);
    const ThreadPool::Helping helping(pool);
    TaskGroup group;
    std::vector<int> ran;
    for (int i = 0; i < 3; ++i) {
        group.run([&ran, i] { ran.push_back(i); });
    }
    EXPECT_TRUE(ran.empty()) << "nobody runs tasks before the wait";
    group.wait();
    EXPECT_EQ(ran, (std::vector<int>{0, 1, 2})) << "the caller runs them in their order";
}

TEST(TaskGroup, WakesTheCallerForTasksBegunLater) {
    ThreadPool pool(1);
    const ThreadPool::Helping helping(pool);
    TaskGroup group;
    Gate begun;
    Gate second;
    group.run([&] {
        begun.open();
        // The only thread of the pool waits here until another one has run the second task.
        group.run([&] { second.open(); });
        second.wait();
    });
    begun.wait();
    group.wait();
}

TEST(TaskGroup, RunsNoTasksOfOtherGroupsWhileItWaits) {
    ThreadPool pool(0);
    const ThreadPool::Helping helping(pool);
    TaskGroup outer;
    TaskGroup inner;
    bool of_outer = false;
    outer.run([&] { of_outer = true; });
    inner.run([] {});
    inner.wait();
    EXPECT_FALSE(of_outer);
    outer.wait();
    EXPECT_TRUE(of_outer);
}

TEST(TaskGroup, BeginsNothingAfterACancel) {
    ThreadPool pool(0);
    const ThreadPool::Helping helping(pool);
    int ran = 0;
    TaskGroup group;
    group.run([&] {
        group.cancel();
        group.run([&] { ++ran; });
    });
    group.run([&] { ++ran; });
    group.wait();
    EXPECT_EQ(ran, 0);
}

TEST(ThreadPool, RunsWhatItsTasksPostBeforeItEnds) {
    std::atomic<int> ran = 0;
    {
        ThreadPool pool(2);
        ASSERT_GT(pool.threads(), 0);
        pool.post([&] {
            EXPECT_EQ(ThreadPool::current(), &pool);
            pool.post([&] { ++ran; });
            ++ran;
        });
    }
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(ThreadPool::current(), nullptr);
}

TEST(PerThread, GivesTheObjectOfAThreadThatHasEndedToTheNext) {
    PerThread<int> of_thread;
    int* const here = &of_thread.local();
    std::set<int*> elsewhere;
    for (int i = 0; i < 50; ++i) {
        std::thread([&] { elsewhere.insert(&of_thread.local()); }).join();
    }
    EXPECT_EQ(elsewhere.size(), 1) << "one thread at a time, one object";
    EXPECT_FALSE(elsewhere.contains(here));
}

TEST(RunInOrder, HandsResultsOverInTheOrderOfThePieces) {
    for (const int jobs : {1, 2, 5}) {
        std::vector<std::size_t> handed;
        run_in_order(
            3, 60, jobs, [](std::size_t i) { return 10 * i; },
            [&](std::size_t i, std::size_t result) {
                EXPECT_EQ(result, 10 * i);
                handed.push_back(i);
            },
            [] { return false; }, 1);
        ASSERT_EQ(handed.size(), 57U) << jobs;
        for (std::size_t i = 0; i < handed.size(); ++i) {
            EXPECT_EQ(handed[i], i + 3) << jobs;
        }
    }
}

TEST(RunInOrder, ThrowsTheFirstFailureInTheOrderOfThePieces) {
    // The second task fails first, since the first waits for it. With one thread the second
    // never begins.
    for (const int jobs : {1, 2}) {
        Gate failed;
        std::string what;
        try {
            run_in_order(
                0, 5, jobs,
                [&](std::size_t i) -> int {
                    if (i == 1) {
                        failed.open();
                        throw std::runtime_error("the second");
                    }
                    if (jobs == 2 && threads_with_room() > 1) {
                        failed.wait();
                    }
                    throw std::runtime_error("the first");
                },
                [](std::size_t, int) {}, [] { return false; });
        } catch (const std::runtime_error& error) {
            what = error.what();
        }
        EXPECT_EQ(what, "the first") << jobs;
    }
}

TEST(RunInOrder, BeginsNoPieceAfterAStop) {
    for (const int jobs : {1, 3}) {
        std::atomic<int> begun = 0;
        run_in_order(
            0, 1000, jobs,
            [&](std::size_t) {
                ++begun;
                return 0;
            },
            [](std::size_t, int) {}, [&] { return begun >= 7; });
        EXPECT_GE(begun, 7);
        EXPECT_LT(begun, 7 + jobs) << "those under way alone";
    }
}

TEST(RunInOrder, BeginsNoMorePiecesThanMayWait) {
    constexpr int kJobs = 2;
    constexpr int kWaiting = 3;
    if (threads_with_room() < kJobs) {
        GTEST_SKIP() << "one thread alone has room";
    }
    std::atomic<int> begun = 0;
    run_in_order(
        0, 40, kJobs,
        [&](std::size_t i) {
            ++begun;
            if (i == 0) {  // no result is delivered before this one
                while (begun < kJobs * kWaiting) {
                    std::this_thread::yield();
                }
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                EXPECT_EQ(begun, kJobs * kWaiting);
            }
            return 0;
        },
        [](std::size_t, int) {}, [] { return false; }, kWaiting);
    EXPECT_EQ(begun, 40);
}

TEST(OwnThreads, ReportsWhatPiecesReturnAndThrow) {
    const std::function<std::string(const std::string&)> work = [](const std::string& text) {
        if (text == "3") {
            throw std::runtime_error("no such piece");
        }
        return text + "!";
    };
    OwnThreads threads(2, work);
    for (std::size_t i = 0; i < 6; ++i) {
        threads.begin({.number = i, .text = std::to_string(i)});
    }
    EXPECT_EQ(threads.pieces(), 6U);
    std::set<std::size_t> ended;
    while (threads.pieces() > 0) {
        if (const auto piece = threads.take()) {
            ended.insert(piece->number);
            EXPECT_EQ(piece->failed, piece->number == 3);
            EXPECT_EQ(piece->text,
                      piece->failed ? "no such piece" : std::to_string(piece->number) + "!");
        }
    }
    EXPECT_EQ(ended.size(), 6U);
}

}  // namespace
}  // namespace podsim::scenarios
