// Runs small enough to follow by hand: admission, first token and end of each request, to
// the picosecond.
#include "scenarios/src/serve/serving_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "scenarios/src/serve/summary.h"
#include "sim/base/error.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::request;
using by_hand::trace_spec;
using by_hand::us;
using sim::Time;
using testing::ElementsAre;

std::vector<Time> firsts(const ServingResult& result) {
    std::vector<Time> times;
    for (const ServedRequest& served : result.requests) {
        times.push_back(served.first);
    }
    return times;
}

std::vector<Time> ends(const ServingResult& result) {
    std::vector<Time> times;
    for (const ServedRequest& served : result.requests) {
        times.push_back(served.finished);
    }
    return times;
}

/// A prompt at 2 us a token, a decode at 100 us and 1 us for each cached token.
void take_slow_decodes(LinearStepTimes& times) {
    times.prompt = 2;
    times.sequence = 100;
    times.cached = 1;
}

/// A prompt of 5 at 2 us a token: 10 us. Then tokens 2, 3 and 4 of the answer: steps of
/// 100 + cached, which is 5, 6, 7. The host takes 3 us before each of the four steps.
TEST(ServingLoop, one_request_takes_its_prefill_and_its_decode_steps) {
    LinearStepTimes times;
    take_slow_decodes(times);
    ServingSpec spec = trace_spec({request(us(7), 5, 4)});
    spec.host = us(3);
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.requests[0].started, us(7));
    EXPECT_EQ(result.requests[0].first, us(7 + 3 + 10));
    EXPECT_EQ(result.requests[0].finished, us(7 + 4 * 3 + 10 + 105 + 106 + 107));
    EXPECT_THAT(result.gaps, ElementsAre(us(108), us(109), us(110)));
    EXPECT_EQ(result.generate[0].steps, 4);
    EXPECT_EQ(result.generate[0].busy, us(4 * 3 + 10 + 105 + 106 + 107));
    ASSERT_EQ(times.asked.size(), 4U);
    EXPECT_TRUE(times.asked[0].prompts.at(0).ends);
}

/// The same with a host that prepares a step in 106 us while the device works. The request was
/// unknown during the previous step, so the prefill waits for the host; then the longer of the two,
/// 106, 106, 107. A request that arrives meanwhile is known: its prefill of 10 us takes 106.
TEST(ServingLoop, a_host_beside_the_device_counts_where_it_is_slower) {
    LinearStepTimes times;
    take_slow_decodes(times);
    ServingSpec spec = trace_spec({request(us(7), 5, 4)});
    spec.host = us(106);
    spec.host_beside = true;
    ServingResult result = by_hand::serve(spec, times);
    EXPECT_EQ(result.requests[0].first, us(7 + 106 + 10));
    EXPECT_THAT(result.gaps, ElementsAre(us(106), us(106), us(107)));
    spec = trace_spec({request(us(7), 5, 1), request(us(8), 5, 1), request(us(400), 5, 1)});
    spec.host = us(106);
    spec.host_beside = true;
    result = by_hand::serve(spec, times);
    EXPECT_THAT(ends(result), ElementsAre(us(7 + 116), us(7 + 116 + 106), us(400 + 116)));
}

/// An answer of one token is only its prefill.
TEST(ServingLoop, an_answer_of_one_token_needs_no_decode_step) {
    LinearStepTimes times;
    times.prompt = 2;
    for (const BatchingKind kind :
         {BatchingKind::fixed, BatchingKind::continuous, BatchingKind::chunked}) {
        ServingSpec spec = trace_spec({request({}, 5, 1)});
        spec.batching.kind = kind;
        EXPECT_THAT(ends(by_hand::serve(spec, times)), ElementsAre(us(10)));
    }
}

/// Each takes 10 + 3 x 7 = 31 us. The second, which arrives at 5, waits for the first's slot.
TEST(ServingLoop, two_requests_share_one_slot_one_after_the_other) {
    LinearStepTimes times;
    times.prompt = 1;
    times.sequence = 7;
    const ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(10), us(41)));
    EXPECT_THAT(ends(result), ElementsAre(us(31), us(62)));
    EXPECT_EQ(result.queue.most, 1);
    // It waits from 5 to 31 of 62.
    EXPECT_DOUBLE_EQ(result.queue.mean, 26.0 / 62.0);
    EXPECT_DOUBLE_EQ(result.mean_in_system, (31.0 + 57.0) / 62.0);
    EXPECT_TRUE(result.little.equal);
    EXPECT_NEAR(result.little.sojourns_s, 88e-6, 1e-18);
}

/// Continuous, two slots. 0: A's prefill, to 10. B arrived at 5, so its prefill precedes A's
/// decode: to 20. Both decode in steps of 7 + 7: A, with three more tokens, at 34, 48, 62; B, with
/// one more, at 34; A alone takes 7: 41 and 48.
TEST(ServingLoop, continuous_batching_puts_a_prefill_before_the_next_decode_step) {
    LinearStepTimes times;
    times.prompt = 1;
    times.sequence = 7;
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 2)});
    spec.batching.slots = 2;
    ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(10), us(20)));
    EXPECT_THAT(ends(result), ElementsAre(us(48), us(34)));
    EXPECT_THAT(result.gaps, ElementsAre(us(24), us(14), us(7), us(7)));

    // With a decode step between prefills A makes its second token first, at 17, and B's first is
    // at 27.
    spec.batching.interleave = 1;
    result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(10), us(27)));
    EXPECT_THAT(ends(result), ElementsAre(us(27 + 14 + 7), us(27 + 14)));
}

/// Static, two slots: A and B arrive together, C during their batch. Prefill of 10 + 10 tokens to
/// 20. Both decode to 34, when B ends; its row stays, so A's steps continue at 14: 48, 62. Only
/// then C: 72, 79.
TEST(ServingLoop, a_static_batch_runs_to_the_end_of_its_longest) {
    LinearStepTimes times;
    times.prompt = 1;
    times.sequence = 7;
    ServingSpec spec = trace_spec({request({}, 10, 4), request({}, 10, 2), request(us(21), 10, 2)});
    spec.batching.kind = BatchingKind::fixed;
    spec.batching.slots = 2;
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(20), us(20), us(72)));
    EXPECT_THAT(ends(result), ElementsAre(us(62), us(34), us(79)));
}

/// vLLM, a budget of 8 tokens a step. A's prompt of 10: 8, then 2. B's prompt of 9 gets the
/// remaining 6 of the second step; the third decodes A (1) and ends B's last 3; the fourth decodes
/// both. A step takes 100 us and 1 us a prompt token: 108, 108 + 108 = 216, 216 + 103 = 319, 419.
TEST(ServingLoop, mixed_chunks_fill_the_budget_after_the_decodes) {
    LinearStepTimes times;
    times.step = 100;
    times.prompt = 1;
    ServingSpec spec = trace_spec({request({}, 10, 3), request({}, 9, 2)});
    spec.batching = {.kind = BatchingKind::chunked, .slots = 4, .budget = 8};
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(216), us(319)));
    EXPECT_THAT(ends(result), ElementsAre(us(419), us(419)));
    const StepShape third{.decoding = 1, .decode_cached = 10, .prompts = {{3, 6, true}}};
    EXPECT_EQ(times.asked[2], third);
}

/// sglang: separate chunks, before decodes. 8 of A; then 2 of A and 6 of B; then 3 of B; then
/// decodes of both, twice A's.
TEST(ServingLoop, chunks_apart_go_before_decodes) {
    LinearStepTimes times;
    times.step = 100;
    times.prompt = 1;
    ServingSpec spec = trace_spec({request({}, 10, 3), request({}, 9, 2)});
    spec.batching = {.kind = BatchingKind::chunked, .slots = 4, .budget = 8, .mixed = false};
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(firsts(result), ElementsAre(us(216), us(319)));
    EXPECT_THAT(ends(result), ElementsAre(us(519), us(419)));
}

/// Two clients, four requests on two slots, 10 us each when alone. Every step takes 5 us,
/// whatever it contains: prefills of 0 and 1 end at 5 and 10, a decode step ends both at 15, then
/// 2 and 3 follow.
TEST(ServingLoop, a_closed_loop_keeps_its_clients_in_the_system) {
    LinearStepTimes times;
    times.step = 5;
    ServingSpec spec;
    spec.load.arrivals = ArrivalKind::concurrency;
    spec.load.concurrency = 2;
    spec.load.requests = 4;
    spec.load.output.least = 2;
    spec.batching.slots = 2;
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_THAT(ends(result), ElementsAre(us(15), us(15), us(30), us(30)));
    EXPECT_EQ(result.requests[2].arrived, us(15));
    EXPECT_EQ(result.most_in_system, 2);
    EXPECT_DOUBLE_EQ(result.mean_in_system, 2);
    EXPECT_FALSE(load_verdict_of(result, false).overloaded);
}

/// Lower classes first: of the two requests that wait for the slot, the later one of class 0
/// precedes that of class 1.
TEST(ServingLoop, classes_go_before_arrivals) {
    LinearStepTimes times;
    times.step = 10;
    std::vector<Request> requests{request({}, 1, 1), request(us(1), 1, 1), request(us(2), 1, 1)};
    requests[1].priority = 1;
    EXPECT_THAT(ends(by_hand::serve(trace_spec(requests), times)),
                ElementsAre(us(10), us(30), us(20)));
}

/// A decode step compiled for all slots, or for the next power of two, takes as long as one of that
/// many sequences.
TEST(ServingLoop, padded_rows_cost_what_others_do) {
    LinearStepTimes times;
    times.sequence = 1;
    std::vector<Request> three(3, request({}, 1, 2));
    ServingSpec spec = trace_spec(three);
    spec.batching.slots = 16;
    spec.batching.padding = Padding::slots;
    EXPECT_EQ(by_hand::serve(spec, times).end, us(16));
    spec.batching.padding = Padding::power_of_two;
    EXPECT_EQ(by_hand::serve(spec, times).end, us(4));
}

/// With buffers of 10 tokens each of 4 compiled slots reads 9, whatever 3 sequences hold, in the
/// one decode step.
TEST(ServingLoop, buffers_are_read_whole) {
    LinearStepTimes times;
    times.cached = 1;
    ServingSpec spec = trace_spec(std::vector<Request>(3, request({}, 1, 2)));
    spec.batching.slots = 4;
    spec.batching.padding = Padding::slots;
    EXPECT_EQ(by_hand::serve(spec, times).end, us(3));
    EXPECT_EQ(times.asked.back(), (StepShape{.decoding = 3, .decode_cached = 3, .padding = 1}));
    spec.cache.length = 10;
    EXPECT_EQ(by_hand::serve(spec, times).end, us(4 * 9));
    EXPECT_EQ(times.asked.back(), (StepShape{.decoding = 4, .decode_cached = 36}));
}

/// A cache with pages of 4 holds 11 tokens of prompts of 20: two whole pages, so 12 are computed.
TEST(ServingLoop, a_prefix_cache_saves_whole_pages) {
    LinearStepTimes times;
    times.prompt = 1;
    times.prompt_cached = 100;
    Request one = request({}, 20, 1);
    one.prefix = 11;
    ServingSpec spec = trace_spec({one});
    spec.cache.page = 4;
    EXPECT_EQ(by_hand::serve(spec, times).end, us(12 + 800));
}

/// Every drafted token is accepted: a step makes 4, the last step the remaining 2 of 11
/// (1 + 4 + 4 + 2). Three steps of 10 for the target and 3 x 1 for the draft, whose prefill also
/// takes 1.
TEST(ServingLoop, drafted_tokens_that_are_accepted_come_with_one_step) {
    LinearStepTimes target;
    target.step = 10;
    LinearStepTimes draft;
    draft.step = 1;
    ServingSpec spec = trace_spec({request({}, 5, 11)});
    spec.speculation = {.tokens = 3, .acceptance = 1};
    const ServingResult result = serve(spec, {.steps = &target, .draft = &draft});
    EXPECT_EQ(result.end, us(11 + 3 * 13));
    EXPECT_EQ(result.drafted, 9);
    EXPECT_EQ(result.accepted, 9);
    EXPECT_EQ(target.asked[1].decode_tokens, 4);
    // The draft's second step reads the first one's tokens: the prompt's 5, then one more each.
    EXPECT_EQ(draft.asked[1].decode_cached, 5);
    EXPECT_EQ(draft.asked[3].decode_cached, 7);
}

TEST(ServingLoop, what_one_server_never_holds_is_refused) {
    LinearStepTimes times;
    ServingSpec spec = trace_spec({request({}, 20, 13)});
    spec.cache = {.pages = 7, .page = 4};
    try {
        (void)by_hand::serve(spec, times);
        FAIL();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(error.what(),
                     "a request of 20 + 13 tokens needs 8 pages of 4 tokens, the cache of a server "
                     "has 7; allow shorter prompts and outputs, or more memory");
    }
    spec.cache.pages = 8;
    EXPECT_NO_THROW((void)by_hand::serve(spec, times));
}

}  // namespace
}  // namespace podsim::scenarios
