// Percentiles by hand, and the reports of small runs.
#include <gmock/gmock.h>

#include "scenarios/src/serve/serving_json.h"
#include "scenarios/src/serve/serving_text.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::request;
using by_hand::trace_spec;
using by_hand::us;

/// For 1, 2, 3, 4, 10 ms the median is the third; p90 at position 3.6 is 4 + 0.6 x 6 = 7.6; p99 at
/// 3.96 is 9.76.
TEST(Spread, is_linear_between_order_statistics) {
    const Spread spread = spread_of({us(10000), us(2000), us(4000), us(1000), us(3000)});
    EXPECT_EQ(spread.count, 5U);
    EXPECT_DOUBLE_EQ(spread.mean, 4e-3);
    EXPECT_DOUBLE_EQ(spread.median, 3e-3);
    EXPECT_DOUBLE_EQ(spread.p90, 7.6e-3);
    EXPECT_DOUBLE_EQ(spread.p99, 9.76e-3);
    EXPECT_DOUBLE_EQ(spread.largest, 10e-3);
    EXPECT_DOUBLE_EQ(spread_of({us(5)}).p99, 5e-6);
    EXPECT_EQ(spread_of({}).count, 0U);
}

/// Two requests of a prompt of 10 (1 us a token) and 4 tokens (7 us a step) on one slot: 31 us
/// each, the second from 5 on.
ServingRun small_run(ServingSpec spec) {
    LinearStepTimes times;
    times.prompt = 1;
    times.sequence = 7;
    return run_serving("two requests", 4, spec, {.steps = &times});
}

/// Times to the first token are 10 and 41 - 5 = 36, per token 7 and 7, in total 31 and 57. One of
/// two meets an objective of 20 us to the first token, and none meets one of 6.9 us a token.
TEST(Summary, counts_what_meets_the_objective) {
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    spec.objective.first_token = us(20);
    spec.objective.a_token = us(7);
    ServingSummary summary = small_run(spec).summary;
    EXPECT_DOUBLE_EQ(summary.first_token.mean, 23e-6);
    EXPECT_DOUBLE_EQ(summary.a_token.mean, 7e-6);
    EXPECT_EQ(summary.gap.count, 6U);
    EXPECT_DOUBLE_EQ(summary.whole.largest, 57e-6);
    EXPECT_DOUBLE_EQ(summary.wait.largest, 26e-6);
    EXPECT_DOUBLE_EQ(summary.seconds, 62e-6);
    EXPECT_DOUBLE_EQ(summary.output_per_s, 8 / 62e-6);
    EXPECT_DOUBLE_EQ(summary.good_share, 0.5);
    EXPECT_DOUBLE_EQ(summary.goodput_per_s, 1 / 62e-6);
    EXPECT_DOUBLE_EQ(summary.generate_busy, 1);
    EXPECT_DOUBLE_EQ(summary.slots_used, 1);
    spec.objective.a_token = sim::Time{us(7).ps - 1};
    EXPECT_DOUBLE_EQ(small_run(spec).summary.good_share, 0);
}

/// 8 tokens in 62 us of 4 chips at 1.80 USD an hour: 0.002 USD a second; a million tokens
/// take 7.75.
TEST(Summary, prices_a_million_output_tokens) {
    ServingRun run = small_run(trace_spec({request({}, 10, 4), request(us(5), 10, 4)}));
    EXPECT_FALSE(usd_per_million_output_tokens(run).has_value());
    EXPECT_FALSE(serving_json(run, {}, false).contains("cost_per_million_output_tokens_usd"));
    run.usd_per_chip_hour = 1.80;
    EXPECT_DOUBLE_EQ(*usd_per_million_output_tokens(run), 0.0155);
    EXPECT_DOUBLE_EQ(
        serving_json(run, {}, false)["cost_per_million_output_tokens_usd"].get<double>(), 0.0155);
    EXPECT_THAT(
        serving_text(run, {}),
        ::testing::HasSubstr("  a million output tokens cost 0.0155 USD at 1.80 USD/chip-hour\n"));
}

TEST(ServingText, says_what_was_served) {
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    spec.objective.first_token = us(20);
    spec.cache.pages = 2;
    spec.per_octave = 0;
    EXPECT_EQ(serving_text(small_run(spec)),
              "two requests\n"
              "  load      2 requests as a trace says\n"
              "  lengths   of a trace, 2 rows\n"
              "  batching  continuous, 1 slot\n"
              "  cache     2 pages of 16 tokens, taken as they fill\n"
              "\n"
              "Served in 62.00 us, 1.419 in the system on average, 2 at most\n"
              "\n"
              "Latency                      mean    median       p90       p99   largest\n"
              "  time to first token    23.00 us  23.00 us  33.40 us  35.74 us  36.00 us\n"
              "  time per output token  7.000 us  7.000 us  7.000 us  7.000 us  7.000 us\n"
              "  between tokens         7.000 us  7.000 us  7.000 us  7.000 us  7.000 us\n"
              "  end to end             44.00 us  44.00 us  54.40 us  56.74 us  57.00 us\n"
              "  in line                13.00 us  13.00 us  23.40 us  25.74 us  26.00 us\n"
              "\n"
              "Rate                 a second  a chip\n"
              "  requests              32258    8065\n"
              "  output tokens        129032   32258\n"
              "  prompt tokens        322581   80645\n"
              "  goodput, requests     16129    4032\n"
              "  50.00 % of the requests meet the objective\n"
              "\n"
              "Queue: 0.4194 wait on average, 1 at most\n"
              "  2 requests are in the system at the last arrival, 1 in line, none has been served "
              "by then: the run is too short to tell whether the load of 200000 requests a second "
              "is served\n"
              "\n"
              "Servers: busy 100.0 % of the time, 100.0 % of the slots used\n"
              "  cache 50.00 % full on average, 50.00 % at most\n"
              "\n"
              "Step times: exact, 4 shapes simulated\n");
}

TEST(ServingText, says_that_a_server_is_overloaded) {
    ServingSpec spec;
    spec.load.rate = 1e6;  // ten times what prompts of 10 us allow
    spec.load.requests = 500;
    spec.load.prompt.least = 10;
    const std::string text = serving_text(small_run(spec));
    const std::size_t from = text.find("Queue:");
    EXPECT_EQ(text.substr(from, text.find("Servers") - from),
              "Queue: 225.5 wait on average, 451 at most\n"
              "  overloaded: 1.034e+06 requests a second come, 99469 are served, those in the "
              "system grow by 916822 a second;\n"
              "  452 are there at the last arrival, 451 in line: 225 more than at the middle one, "
              "where chance would leave 73 of 500 (3 sqrt(1.2 n))\n"
              "\n");
}

/// Returns the section of a report with the verdict on the load.
std::string queue_of(const ServingSpec& spec) {
    const std::string text = serving_text(small_run(spec));
    const std::size_t from = text.find('\n', text.find("Queue:")) + 1;
    return text.substr(from, text.find("\nServers") - from);
}

/// Returns requests of 10 us each, `gap` us apart.
ServingSpec apart(std::int64_t requests, std::int64_t gap) {
    std::vector<Request> trace;
    for (std::int64_t i = 0; i < requests; ++i) {
        trace.push_back(request(us(gap * i), 10, 1));
    }
    return trace_spec(trace);
}

/// A rate needs time between arrivals. Without it there is none to keep up with, however many wait
/// (99 in line).
TEST(ServingText, has_no_rate_of_requests_that_come_at_once) {
    EXPECT_EQ(queue_of(apart(100, 0)),
              "  all 100 requests come at once: there is no rate of arrivals to keep up with\n");
    EXPECT_EQ(queue_of(apart(1, 0)),
              "  a single request: there is no rate of arrivals to keep up with\n");
    const ServingRun run = small_run(apart(100, 0));
    EXPECT_EQ(run.result.queue.at_last_arrival, 99);
    EXPECT_FALSE(run.summary.load.overloaded);
    EXPECT_FALSE(run.summary.load.too_short);
    const Json json = serving_json(run, {}, false);
    EXPECT_TRUE(json["offered_requests_per_s"].is_null());
    EXPECT_TRUE(json["served_requests_per_s"].is_null());
}

/// 40 requests within 7.8 us; the first takes 10.
TEST(ServingText, says_that_none_has_been_served_yet) {
    ServingSpec spec = apart(40, 0);
    for (std::int64_t i = 0; i < 40; ++i) {
        spec.load.trace[static_cast<std::size_t>(i)].arrival = sim::Time{200000 * i};
    }
    EXPECT_EQ(queue_of(spec),
              "  40 requests are in the system at the last arrival, 39 in line, none has been "
              "served by then: the run is too short to tell whether the load of 5e+06 requests a "
              "second is served\n");
}

/// Even the five of ten requests after the middle one do not exceed chance, 3 sqrt(12) = 10.4.
/// Every 8 us one of 10 us arrives: when the fifth arrives at 32, three have left; when the tenth
/// arrives at 72, seven.
TEST(ServingText, does_not_judge_short_runs) {
    EXPECT_EQ(queue_of(apart(10, 8)),
              "  3 requests are in the system at the last arrival, 2 in line: the run is too short "
              "to tell whether the load of 125000 requests a second is served\n");
    EXPECT_EQ(queue_of(apart(10, 10)),
              "  1 request is in the system at the last arrival, 0 in line: the load of 100000 "
              "requests a second is served\n");
}

// Prompts of 10 lie between 1 and the longest context, 13; the caches of decode steps between 0
// and 13.
TEST(ServingText, sets_the_closed_form_beside_disaggregated_servers) {
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    spec.disaggregation = DisaggregationSpec{};
    const std::string text = serving_text(small_run(spec));
    const std::size_t from = text.find("Servers\n");
    EXPECT_EQ(
        text.substr(from),
        "Servers\n"
        "  prefill busy 38.46 % (closed form 38.46 %), generate busy 80.77 %, 80.77 % of the "
        "slots used (closed form 80.77 %)\n"
        "  a request takes 10.00 us of a prefill server and 21.00 us of a full generate "
        "server: 0.4762 prefill servers a generate server balance\n"
        "  a cache is 0 s on its way, after the first token: those of a prefill server 0.000 % of "
        "the time\n"
        "\n"
        "Step times: 4 points in a factor of two, 4 buckets simulated; off by 0.000 % on "
        "average, 0.000 % at most in 11 steps sampled\n");
    // Two of four slots have a page: the closed form of their use is that of two.
    spec.batching.slots = 4;
    spec.cache.pages = 2;
    EXPECT_THAT(
        serving_text(small_run(spec)),
        ::testing::HasSubstr(
            "  a request takes 10.00 us of a prefill server and 21.00 us of a full generate "
            "server, whose cache has room for 2 sequences: 0.4762 prefill servers a generate "
            "server balance\n"));
}

/// Caches of 10 tokens of 1 B take 40 us at 0.25 B / us. The second of two is ready at 20 us,
/// leaves at 50 and arrives at 90; its three decodes end at 111. 80 of 111 us are 72.07 %; prefill
/// has 20 and decode 42.
TEST(ServingText, names_slow_transfers_of_caches) {
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    spec.disaggregation = DisaggregationSpec{};
    spec.disaggregation->a_token = sim::Bytes(1);
    spec.disaggregation->rate = sim::BytesPerSecond(250e3);
    const ServingRun run = small_run(spec);
    EXPECT_THAT(serving_text(run),
                ::testing::HasSubstr(
                    "  a cache is 40.00 us on its way, after the first token: those of a prefill "
                    "server 72.07 % of the time; the transfer of caches limits the servers\n"));
    const Json json = serving_json(run, {}, false);
    EXPECT_EQ(json["transfers"]["count"], 2);
    EXPECT_DOUBLE_EQ(json["transfers"]["mean_s"].get<double>(), 40e-6);
    EXPECT_DOUBLE_EQ(json["transfers"]["busy_fraction"].get<double>(), 80.0 / 111);
    EXPECT_EQ(json["transfers"]["limit"], true);
}

/// 31 + 57 of 62 us in the system, 26 of these in line, the server busy with its one slot all the
/// time, whenever the trace begins. On disaggregated servers the second prompt ends at 20 us and
/// waits for the transfer of caches until 50; the transfers of 40 us each are 80 of the run's 111.
TEST(ServingJson, averages_from_the_first_arrival) {
    ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    const auto later = [&] {
        ServingSpec shifted = spec;
        for (Request& one : shifted.load.trace) {
            one.arrival += us(100000000);
        }
        return serving_json(small_run(shifted), {}, false);
    };
    const Json together = later();
    EXPECT_DOUBLE_EQ(together["mean_in_system"].get<double>(), 88.0 / 62);
    EXPECT_DOUBLE_EQ(together["queue"]["mean"].get<double>(), 26.0 / 62);
    EXPECT_DOUBLE_EQ(together["generate_busy_fraction"].get<double>(), 1);
    EXPECT_DOUBLE_EQ(together["slots_used_fraction"].get<double>(), 1);
    EXPECT_EQ(together, serving_json(small_run(spec), {}, false));

    spec.disaggregation = DisaggregationSpec{};
    spec.disaggregation->a_token = sim::Bytes(1);
    spec.disaggregation->rate = sim::BytesPerSecond(250e3);
    const Json apart = later();
    EXPECT_DOUBLE_EQ(apart["transfers"]["busy_fraction"].get<double>(), 80.0 / 111);
    EXPECT_DOUBLE_EQ(apart["prefill_busy_fraction"].get<double>(), 20.0 / 111);
    EXPECT_DOUBLE_EQ(apart["prefill_servers"][0]["mean_running"].get<double>(), 20.0 / 111);
    EXPECT_EQ(apart, serving_json(small_run(spec), {}, false));
}

TEST(ServingText, writes_lengths) {
    EXPECT_EQ(length_text({.least = 1}), "1 token");
    EXPECT_EQ(length_text({.kind = LengthKind::uniform, .least = 1, .most = 9}), "1 to 9 tokens");
    EXPECT_EQ(
        length_text(
            {.kind = LengthKind::lognormal, .least = 1, .most = 4096, .mean = 500, .sigma = 0.6}),
        "lognormal, mean 500, sigma 0.6, 1 to 4096 tokens");
}

TEST(ServingJson, holds_every_value) {
    const ServingSpec spec = trace_spec({request({}, 10, 4), request(us(5), 10, 4)});
    const Json json = serving_json(small_run(spec), {}, true);
    EXPECT_DOUBLE_EQ(json["time_to_first_token"]["median_s"].get<double>(), 23e-6);
    EXPECT_EQ(json["requests"], 2);
    EXPECT_EQ(json["little"]["equal"], true);
    EXPECT_EQ(json["queue"]["overloaded"], false);
    EXPECT_EQ(json["served"][1]["first_token_s"], 41e-6);
    EXPECT_EQ(json["generate_servers"][0]["steps"], 8);
    EXPECT_EQ(json["output_tokens_per_s_chip"], 8 / 62e-6 / 4);
    EXPECT_TRUE(json["prefill_grid"].is_null());
    EXPECT_EQ(json["step_grid"]["largest_error"], 0);
    EXPECT_FALSE(serving_json(small_run(spec), {}, false).contains("served"));
}

}  // namespace
}  // namespace podsim::scenarios
