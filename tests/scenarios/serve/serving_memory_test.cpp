// Pages by hand: growth, preemption, reservation; a shared prefix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/src/scenario/check_cache.h"
#include "scenarios/src/serve/audit.h"
#include "scenarios/src/serve/batch.h"
#include "sim/base/error.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::request;
using by_hand::trace_spec;
using by_hand::us;
using testing::ElementsAre;

/// A (3 tokens, answer of 4) and B (3, answer of 3) on four pages of two tokens, steps of 10 us.
ServingSpec two_on_four_pages() {
    ServingSpec spec = trace_spec({request({}, 3, 4), request({}, 3, 3)});
    spec.batching = {.kind = BatchingKind::chunked, .slots = 2, .budget = 100};
    spec.cache = {.pages = 4, .page = 2};
    return spec;
}

/// Step 1 (to 10): both prompts, 2 + 2 pages. Step 2: both write their fourth token into their
/// second pages. Step 3: A's fifth needs a third page; B, which arrived last, is preempted, and
/// none is admitted in this step. Step 4: A's sixth; B's 3 + 2 known tokens need 3 pages, but one
/// is free. At 40 A has its four tokens. Step 5: B's 5 tokens in one prefill, which makes its
/// third token.
TEST(ServingMemory, a_full_cache_preempts_the_one_that_came_last) {
    LinearStepTimes times;
    times.step = 10;
    const ServingResult result = by_hand::serve(two_on_four_pages(), times);
    EXPECT_EQ(result.requests[0].finished, us(40));
    EXPECT_EQ(result.requests[1].first, us(10));
    EXPECT_EQ(result.requests[1].finished, us(50));
    EXPECT_EQ(result.requests[0].preemptions, 0);
    EXPECT_EQ(result.requests[1].preemptions, 1);
    EXPECT_THAT(result.gaps, ElementsAre(us(10), us(10), us(10), us(10), us(30)));
    EXPECT_EQ(result.generate[0].prefill_tokens, 3 + 3 + 5);
    EXPECT_EQ(result.generate[0].most_pages, 4);
    // 4 pages to 20, A's 3 to 40, B's 3 to 50.
    EXPECT_DOUBLE_EQ(result.generate[0].mean_pages, (4 * 20 + 3 * 30) / 50.0);
}

/// Each needs three pages at its end: B waits for all of A's answer.
TEST(ServingMemory, reserved_pages_leave_nothing_to_preempt) {
    LinearStepTimes times;
    times.step = 10;
    ServingSpec spec = two_on_four_pages();
    spec.cache.reserve = true;
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.requests[0].finished, us(40));
    EXPECT_EQ(result.requests[1].first, us(50));
    EXPECT_EQ(result.requests[1].finished, us(70));
    EXPECT_EQ(result.requests[1].preemptions, 0);
}

/// Continuous batching admits a prompt when its pages are free: B's prefill after A's, then the
/// same course, 10 us later (decode steps end at 30, 40, 50; B's second prefill at 60).
TEST(ServingMemory, prefill_first_preempts_in_decode_steps) {
    LinearStepTimes times;
    times.step = 10;
    ServingSpec spec = two_on_four_pages();
    spec.batching.kind = BatchingKind::continuous;
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.requests[0].finished, us(50));
    EXPECT_EQ(result.requests[1].finished, us(60));
    EXPECT_EQ(result.requests[1].preemptions, 1);
}

/// The lower class of two running sequences is preempted, though the other arrived later.
TEST(ServingMemory, the_lowest_class_is_preempted_first) {
    LinearStepTimes times;
    times.step = 10;
    ServingSpec spec = two_on_four_pages();
    spec.load.trace[0].priority = 1;
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.requests[0].preemptions, 1);
    EXPECT_EQ(result.requests[1].preemptions, 0);
    EXPECT_EQ(result.requests[1].finished, us(30));
}

/// All prompts of 6 share a prefix of 4 tokens, which has two pages, once; each has one page of its
/// own: 2 + 3 pages.
TEST(ServingMemory, a_common_prefix_is_held_once) {
    LinearStepTimes times;
    times.prompt = 1;
    ServingSpec spec;
    spec.load.arrivals = ArrivalKind::concurrency;
    spec.load.concurrency = 3;
    spec.load.requests = 3;
    spec.load.prompt.least = 6;
    spec.load.common_prefix = 4;
    spec.batching = {.kind = BatchingKind::fixed, .slots = 3};
    spec.cache = {.pages = 5, .page = 2};
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.generate[0].most_pages, 5);
    EXPECT_EQ(result.generate[0].most_running, 3);
    EXPECT_EQ(result.end, us(3 * 2));
}

/// The prefix takes its pages even if a request does not have it: a prompt of 3 without it needs
/// two pages beside the two.
TEST(ServingMemory, a_common_prefix_leaves_room_for_every_request) {
    ServingSpec spec;
    spec.load.common_prefix = 4;
    const auto problem = [&](std::int64_t pages, std::int64_t prompt, std::int64_t prefix) {
        spec.cache = {.pages = pages, .page = 2};
        Request one = request({}, prompt, 1);
        one.prefix = prefix;
        try {
            check_cache(spec, std::vector{one});
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string();
    };
    EXPECT_EQ(problem(4, 3, 0), "");
    EXPECT_EQ(problem(3, 3, 0),
              "a request of 3 + 1 tokens needs 4 pages of 2 tokens with the prefix of all, the "
              "cache of a server has 3");
    EXPECT_EQ(problem(3, 6, 4), "");
    EXPECT_EQ(problem(1, 3, 0),
              "the prefix of 4 tokens needs 2 pages of 2 tokens, the cache of a server has 1");
}

/// If two shards hold different sequences, each has half of the pages, and its own copy of
/// the prefix.
TEST(ServingMemory, a_request_lies_in_one_part_of_the_cache) {
    ServingSpec spec;
    spec.cache.page = 2;
    spec.cache.pages = 10;
    const auto problem = [&](std::int64_t parts, std::int64_t prompt) {
        spec.cache.parts = parts;
        try {
            check_cache(spec, std::vector{request({}, prompt, 1)});
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string();
    };
    EXPECT_EQ(problem(1, 20), "");
    EXPECT_EQ(problem(2, 10), "");
    EXPECT_EQ(problem(2, 11),
              "a request of 11 + 1 tokens needs 6 pages of 2 tokens, each of the 2 parts of a "
              "server's cache has 5");
}

/// A step of three sequences that is compiled for four reads four buffers of 10 tokens, five pages
/// each, used or not.
TEST(ServingMemory, the_buffers_that_a_step_reads_have_room) {
    ServingSpec spec;
    spec.batching.slots = 3;
    spec.cache.page = 2;
    spec.cache.length = 10;
    const auto problem = [&](std::int64_t pages) {
        spec.cache.pages = pages;
        try {
            check_cache(spec, {});
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string();
    };
    EXPECT_EQ(problem(15), "");
    EXPECT_EQ(problem(14),
              "3 buffers of 10 tokens need 15 pages of 2 tokens, the cache of a server has 14");
    spec.batching.padding = Padding::power_of_two;
    EXPECT_EQ(problem(20), "");
    EXPECT_EQ(problem(19),
              "4 buffers of 10 tokens need 20 pages of 2 tokens, the cache of a server has 19");
    spec.batching.slots = 1;
    EXPECT_EQ(problem(4),
              "1 buffer of 10 tokens needs 5 pages of 2 tokens, the cache of a server has 4");
}

/// Drafted tokens need room while they are verified: a token, its three drafts and a prompt of 3
/// are 7 tokens.
TEST(ServingMemory, drafted_tokens_take_pages) {
    LinearStepTimes times;
    times.step = 10;
    ServingSpec spec = trace_spec({request({}, 3, 2)});
    spec.cache = {.pages = 7, .page = 1};
    spec.speculation = {.tokens = 3, .acceptance = 0};
    EXPECT_EQ(by_hand::serve(spec, times).generate[0].most_pages, 7);
    spec.cache.pages = 6;
    EXPECT_THROW((void)by_hand::serve(spec, times), std::exception);
}

/// A quarter of the layers see all tokens, the others the last 4: 12 tokens keep 4 + 8 / 4 = 6,
/// three pages. Behind a common prefix of 8, which keeps 5 tokens on three pages, the other 4
/// take two.
TEST(ServingMemory, tokens_beyond_a_window_take_what_the_other_layers_keep) {
    LinearStepTimes times;
    times.step = 10;
    ServingSpec spec = trace_spec({request({}, 12, 1)});
    spec.cache.page = 2;
    spec.cache.kept = {.window = 4, .beyond = 0.25};
    EXPECT_EQ(spec.cache.pages_for(4), 2);
    EXPECT_EQ(spec.cache.pages_for(5), 3);
    EXPECT_EQ(spec.cache.pages_for(12), 3);
    EXPECT_EQ(spec.cache.pages_for(13), 4);
    spec.cache.pages = 3;
    EXPECT_EQ(by_hand::serve(spec, times).generate[0].most_pages, 3);
    spec.cache.pages = 2;
    EXPECT_THROW((void)by_hand::serve(spec, times), sim::InputError);
    spec.load.common_prefix = 8;
    spec.load.trace[0].prefix = 8;
    spec.cache.pages = 5;
    EXPECT_EQ(by_hand::serve(spec, times).generate[0].most_pages, 5);
    spec.cache.pages = 4;
    EXPECT_THROW((void)by_hand::serve(spec, times), sim::InputError);
}

TEST(Audit, names_the_breach) {
    const std::vector<Request> requests{request({}, 1, 2), request({}, 1, 1)};
    const auto breach = [&](auto act) -> std::string {
        Audit audit(requests);
        audit.arrived(0);
        audit.arrived(1);
        try {
            act(audit);
        } catch (const std::logic_error& error) {
            return error.what();
        }
        return "none";
    };
    WaitingLine line;
    Sequence first{.request = 0, .ticket = 0};
    Sequence second{.request = 1, .ticket = 1};
    EXPECT_EQ(breach([&](Audit& audit) { audit.arrived(0); }), "serving: a request arrives twice");
    EXPECT_EQ(breach([&](Audit& audit) {
                  audit.admitted(line, second);
                  audit.admitted(line, first);
              }),
              "serving: a request overtakes one of its class");
    EXPECT_EQ(breach([&](Audit& audit) {
                  audit.admitted(line, first);
                  audit.admitted(line, first);
              }),
              "serving: a request is served that does not wait");
    EXPECT_EQ(breach([&](Audit& audit) {
                  audit.admitted(line, first);
                  audit.made(0, 1);
                  audit.finished(0);
              }),
              "serving: a request ends unanswered");
    EXPECT_EQ(breach([&](Audit& audit) {
                  audit.admitted(line, first);
                  audit.made(0, 3);
              }),
              "serving: a request has more tokens than it asked for");
    EXPECT_EQ(breach([](Audit& audit) { audit.all_served(); }), "serving: a request is lost");
    WaitingLine others;
    others.push(first);
    EXPECT_EQ(breach([&](Audit& audit) { audit.admitted(others, second); }),
              "serving: a request is served before one that goes first");
}

}  // namespace
}  // namespace podsim::scenarios
