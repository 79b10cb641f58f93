// Prefill servers, transfers and generate servers by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::request;
using by_hand::trace_spec;
using by_hand::us;

/// A byte a token, a byte a microsecond, 2 us of latency; prompts take 2 us a token, decode steps
/// 100 us.
ServingSpec apart(std::vector<Request> requests) {
    ServingSpec spec = trace_spec(std::move(requests));
    spec.batching.slots = 2;
    spec.disaggregation = DisaggregationSpec{
        .a_token = sim::Bytes(1), .rate = sim::BytesPerSecond(1e6), .latency = us(2)};
    return spec;
}

ServingResult run(const ServingSpec& spec) {
    LinearStepTimes prefill;
    prefill.prompt = 2;
    LinearStepTimes steps;
    steps.step = 100;
    return serve(spec, {.steps = &steps, .prefill = &prefill});
}

/// A's prompt ends at 10, its cache's transfer at 10 + 5 + 2 = 17, its decode steps at 117 and 217.
/// B's prompt ends at 20, its cache arrives at 27; it joins at 117: 217, 317.
TEST(Disaggregated, a_cache_goes_its_way_while_the_next_prompt_is_computed) {
    const ServingResult result = run(apart({request({}, 5, 3), request({}, 5, 3)}));
    EXPECT_EQ(result.requests[0].first, us(10));
    EXPECT_EQ(result.requests[1].first, us(20));
    EXPECT_EQ(result.requests[0].finished, us(217));
    EXPECT_EQ(result.requests[1].finished, us(317));
    EXPECT_EQ(result.transfers, us(14));
    ASSERT_EQ(result.prefill.size(), 1U);
    EXPECT_EQ(result.prefill[0].busy, us(20));
    EXPECT_EQ(result.generate[0].busy, us(300));
    EXPECT_EQ(result.generate[0].prefill_tokens, 0);
    EXPECT_TRUE(result.little.equal);
}

/// Four of five tokens are the common prefix, which both servers hold. The prompt takes 2 us, the
/// transfer of its one token 1 + 2. A prefix of its own is sent too: 5 + 2.
TEST(Disaggregated, the_prefix_of_all_does_not_go_its_way) {
    ServingSpec spec = apart({request({}, 5, 2)});
    spec.load.trace[0].prefix = 4;
    spec.cache.page = 2;
    const ServingResult own = run(spec);
    EXPECT_EQ(own.transfers, us(7));
    EXPECT_EQ(own.requests[0].finished, us(2 + 7 + 100));
    spec.load.common_prefix = 4;
    const ServingResult common = run(spec);
    EXPECT_EQ(common.transfers, us(3));
    EXPECT_EQ(common.requests[0].finished, us(2 + 3 + 100));
}

/// Two prefill and two generate servers serve two requests as fast as one of each serves one.
TEST(Disaggregated, servers_work_beside_each_other) {
    ServingSpec spec = apart({request({}, 5, 3), request({}, 5, 3)});
    spec.disaggregation->prefill_servers = 2;
    spec.disaggregation->generate_servers = 2;
    const ServingResult result = run(spec);
    EXPECT_EQ(result.requests[0].finished, us(217));
    EXPECT_EQ(result.requests[1].finished, us(217));
    EXPECT_EQ(result.generate[1].steps, 2);
}

/// Transfers take 5 + 45 us. A's cache leaves at 10, B's waits from 20 on. With no room to wait the
/// third prompt starts when A's cache has arrived, at 60; with room for one, at 20.
TEST(Disaggregated, too_many_caches_that_wait_stop_a_prefill_server) {
    ServingSpec spec = apart({request({}, 5, 2), request({}, 5, 2), request({}, 5, 2)});
    spec.disaggregation->latency = us(45);
    spec.disaggregation->backlog = 0;
    EXPECT_EQ(run(spec).requests[2].first, us(70));
    spec.disaggregation->backlog = 1;
    EXPECT_EQ(run(spec).requests[2].first, us(30));
}

/// An answer of one token ends with its prefill: no cache is sent.
TEST(Disaggregated, an_answer_of_one_token_is_not_sent) {
    const ServingResult result = run(apart({request({}, 5, 1)}));
    EXPECT_EQ(result.end, us(10));
    EXPECT_EQ(result.transfers, us(0));
}

/// Three pages of 2 on the generate server: A (3, answer of 4) arrives at 6 + 3 + 2 = 11, B at 17.
/// A decodes alone to 111 (4 tokens, 2 pages). B then needs 2 pages, but only 1 is left, so it
/// waits. A's fifth and sixth token take the third page: 211, 311. Then B.
TEST(Disaggregated, a_cache_that_came_waits_for_pages) {
    ServingSpec spec = apart({request({}, 3, 4), request({}, 3, 2)});
    spec.cache = {.pages = 3, .page = 2};
    const ServingResult result = run(spec);
    EXPECT_EQ(result.requests[0].finished, us(311));
    EXPECT_EQ(result.requests[1].finished, us(411));
    EXPECT_EQ(result.generate[0].most_pages, 3);
}

/// Two prefill servers, four pages: A (3, answer of 5) and B (3, answer of 3) arrive at 6 + 5 = 11
/// and have two pages each. At 111 both have 4 tokens cached and 2 made. A's fifth takes a third
/// page, and B goes back. Its 3 + 2 tokens are computed by 121, which makes its third. A continues
/// alone to 411.
TEST(Disaggregated, a_preempted_sequence_is_computed_again_by_a_prefill_server) {
    ServingSpec spec = apart({request({}, 3, 5), request({}, 3, 3)});
    spec.disaggregation->prefill_servers = 2;
    spec.cache = {.pages = 4, .page = 2};
    const ServingResult result = run(spec);
    EXPECT_EQ(result.requests[1].preemptions, 1);
    EXPECT_EQ(result.prefill[0].prefill_tokens + result.prefill[1].prefill_tokens, 3 + 3 + 5);
    EXPECT_EQ(result.requests[1].finished, us(121));
    EXPECT_EQ(result.requests[0].finished, us(411));
}

}  // namespace
}  // namespace podsim::scenarios
