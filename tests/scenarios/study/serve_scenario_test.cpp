// Serving runs compared with references: quantities of `expect`, verdicts of `serve` and `compare`,
// and measurements for `calibrate`.
#include "scenarios/src/serve/serve_scenario.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/quantity_names.h"
#include "scenarios/src/serve/serving_quantities.h"
#include "scenarios/src/study/compare.h"
#include "scenarios/src/study/fit.h"
#include "scenarios/src/study/measurement.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

const std::string kServer =
    "name: two\n"
    "hardware: {chip: v5e, slice: 1x1}\n"
    "model: {name: m, layers: 2, d_model: 256, d_ff: 1024, heads: 4, vocabulary: 1024}\n"
    "inference: {}\n"
    "serving: {concurrency: 1, requests: 2, prompt: 8, output: 3, slots: 1, grid: exact, host: 1 "
    "ms}\n";

class ServeScenario : public CommandTest {
protected:
    std::string error_of(const std::string& text) {
        try {
            (void)load_scenario(write(text), {}, Requests::any);
        } catch (const sim::InputError& error) {
            return error.what();
        }
        return "none";
    }
};

/// Two answers of three tokens: four gaps, each with the host's millisecond.
TEST_F(ServeScenario, HasTheQuantitiesOfItsSummary) {
    const Scenario scenario = load_scenario(write(kServer), {}, Requests::some);
    const ServingSummary summary = serve_scenario(scenario).summary;
    EXPECT_GT(summary.gap.median, 1e-3);
    EXPECT_EQ(summary.gap.count, 4U);
    EXPECT_DOUBLE_EQ(value_of("median_itl", summary), summary.gap.median);
    EXPECT_DOUBLE_EQ(value_of("mean_tpot", summary), summary.a_token.mean);
    EXPECT_DOUBLE_EQ(value_of("p99_ttft", summary), summary.first_token.p99);
    EXPECT_DOUBLE_EQ(value_of("output_tokens_per_s", summary), summary.output_per_s);
    for (const QuantityName& quantity : served_quantities()) {
        EXPECT_NO_THROW(static_cast<void>(value_of(quantity.name, summary))) << quantity.name;
    }
    EXPECT_THROW(static_cast<void>(value_of("step_time", summary)), std::out_of_range);
}

/// For a step the message names what takes that long; for steps within the clock, their number. Two
/// prompts of 8 tokens and answers of 3.
TEST_F(ServeScenario, BeyondTheClockNamesTheStepOrTheRequests) {
    const Outcome step =
        podsim({"serve", write(kServer + "perturb: [{kind: slow_chips, factor: 1e15}]\n")});
    EXPECT_EQ(step.status, 2);
    EXPECT_EQ(
        plain(step.err),
        "s.yaml: a step of 8 tokens: the simulated time exceeds 106 days (2^63 ps), while its "
        "closed forms at ideal rates say 6.309e-06 s; check the factors and rates of "
        "perturb\n");
    std::string slow = kServer;
    slow.replace(slow.find("host: 1 ms"), 10, "host: 2000000 s");
    const Outcome all = podsim({"serve", write(slow)});
    EXPECT_EQ(all.status, 2);
    EXPECT_EQ(plain(all.err),
              "s.yaml: the simulated time exceeds 106 days (2^63 ps), of which no step takes so "
              "much: it is the steps of all 2 requests, of 22 tokens, one after the other; check "
              "serving.requests, their prompts and outputs, serving.slots and serving.host\n");
}

/// Two prompts of 8 tokens, each with 2 x 4 heads x 64 elements x 2 layers x 2 bytes: 16,384 bytes
/// a cache.
TEST_F(ServeScenario, BeyondTheClockNamesTheWayOfTheCaches) {
    const auto refused = [&](const std::string& apart, const std::string& message) {
        std::string text = kServer;
        text.replace(text.find("host: 1 ms"), 10, "host: 1 ms, disaggregated: {" + apart + "}");
        const Outcome outcome = podsim({"serve", write(text)});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(plain(outcome.err), message + '\n');
    };
    const std::string clock = "s.yaml: the simulated time exceeds 106 days (2^63 ps)";
    const std::string check = "; check serving.disaggregated.rate, latency and bytes";
    // 32,768 s and 2 x 5e6 s; one client keeps one of four prefill servers busy.
    refused("rate: 1 B/s, latency: 5000000 s",
            clock + ": the caches of a prefill server are on their way for 116.1 days" + check);
    refused("rate: 1 B/s, latency: 5000000 s, prefill: 4",
            clock + ": the caches of a prefill server are on their way for 116.1 days" + check);
    refused("rate: 0.001 B/s",
            clock + ": the caches of a prefill server are on their way for 379.3 days" + check);
    refused("rate: 1 B/s, latency: 10000000 s",
            "s.yaml:5:135: serving.disaggregated.latency: '10000000 s' is more than the 106 days "
            "that a run can have; write a shorter time");
}

/// 64 slots of 2M tokens of 2 x 4 heads x 64 elements x 2 layers x 2 bytes are 262 GB: `serve`
/// fails, and `check` does not pass it.
TEST_F(ServeScenario, RefusesBuffersThatDoNotFit) {
    std::string large = kServer;
    large.replace(large.find("slots: 1"), 8, "slots: 64, cache: {length: 2000000}");
    for (const char* const command : {"serve", "check"}) {
        const Outcome outcome = podsim({command, write(large)});
        EXPECT_EQ(outcome.status, 2) << command;
        EXPECT_THAT(plain(outcome.err + outcome.out),
                    ::testing::ContainsRegex(
                        "s.yaml:5:[0-9]+: serving.cache.length: 64 buffers of 2000000 tokens need "
                        "8000000 pages of 16 tokens, the "
                        "cache of a server has [0-9]+; write fewer slots, a smaller cache.length, "
                        "or more memory"))
            << command;
    }
}

/// Pages given in a file are checked against the memory: at most as many as a server without them
/// has, with all of its memory.
TEST_F(ServeScenario, RefusesMorePagesThanTheMemoryHolds) {
    const auto with = [](const std::string& cache) {
        std::string text = kServer;
        return text.replace(text.find("slots: 1"), 8, "slots: 1, cache: {" + cache + "}");
    };
    const auto pages = [&](const std::string& cache) {
        return *with_pages(load_scenario(write(with(cache)), {}, Requests::some)).cache.pages;
    };
    const std::int64_t most = pages("page: 16");
    EXPECT_EQ(pages(fmt::format("pages: {}", most)), most);
    EXPECT_EQ(pages(fmt::format("pages: {}, memory: 50 %", most)), most);
    const std::string more = write(with(fmt::format("pages: {}", most + 1)));
    for (const char* const command : {"serve", "check"}) {
        const Outcome outcome = podsim({command, more});
        EXPECT_EQ(outcome.status, 2) << command;
        EXPECT_THAT(
            plain(outcome.err + outcome.out),
            HasSubstr(fmt::format("s.yaml:5:87: serving.cache.pages: {} pages of 16 tokens are "
                                  "more than the memory holds beside the weights and the largest "
                                  "step; write at most {}, or leave it out",
                                  most + 1, most)))
            << command;
    }
}

/// A step of 256 prompts of 2048 tokens does not fit, as `run` says; continuous batching computes
/// them one by one. Logits of 4096 sequences, 256,000 of 2 bytes each, are 2.1 GB of a chip, at
/// 18.4 kB per token of cache: about 7,000 pages fewer than for 16.
TEST_F(ServeScenario, CountsPagesBesideTheLargestStep) {
    const std::string llama =
        "hardware: {chip: v5e, slice: 2x2}\n"
        "model: llama-3-8b\n"
        "mesh: {tensor: x y}\n"
        "inference: {weights: int8, kv_cache: int8";
    const std::string serving =
        "}\nserving: {concurrency: 256, requests: 256, prompt: 2048, output: 2, slots: 256, "
        "batching: ";
    const Outcome fixed = podsim({"check", write(llama + serving + "static}\n")});
    EXPECT_EQ(fixed.status, 2);
    EXPECT_THAT(plain(fixed.err),
                HasSubstr("the weights and the largest step, of 524288 tokens, leave no memory for "
                          "a page of cache; use more chips, narrower weights (inference.weights), "
                          "fewer slots or shorter prompts"));
    const std::string step = ", step: prefill, batch: 256, prompt: 2048}\n";
    EXPECT_EQ(podsim({"run", write(llama + step), "--no-explain", "--fail-if-not-fit"}).status, 4);
    EXPECT_EQ(podsim({"check", write(llama + serving + "continuous}\n")}).status, 0);

    const auto pages = [&](std::int64_t slots) {
        const std::string gemma = fmt::format(
            "hardware: {{chip: v5e, slice: 1x1}}\n"
            "model: gemma-2b\n"
            "inference: {{}}\n"
            "serving: {{rate: 1 requests/s, requests: 4096, prompt: 8, output: 2, slots: {}}}\n",
            slots);
        return *with_pages(load_scenario(write(gemma), {}, Requests::some)).cache.pages;
    };
    const double fewer = static_cast<double>(pages(16) - pages(4096)) * 16 * 18 * 2 * 256 * 2;
    EXPECT_GT(fewer, 4080 * 256000.0 * 2);
    EXPECT_LT(fewer, 4080 * 256000.0 * 2 * 1.1);
}

/// A sixth of the layers of Gemma 3 see all tokens. Four sequences of 160,064 tokens fit eight
/// chips of v5e, as `run` says. A transfer of 8,000 tokens of all 62 layers of 16 heads of 2 x 128
/// elements of 2 bytes, of which 52 keep 1,024 each, has (10 x 8,000 + 52 x 1,024) x 8,192
/// bytes = 1.092 GB.
TEST_F(ServeScenario, KeepsTheTokensOfAWindow) {
    const std::string gemma =
        "hardware: {chip: v5e, slice: 2x4}\n"
        "model: gemma-3-27b\n"
        "mesh: {tensor: x y}\n"
        "inference: {weights: int8";
    EXPECT_EQ(podsim({"run", write(gemma + ", step: decode, batch: 4, context: 160063}\n"),
                      "--no-explain", "--fail-if-not-fit"})
                  .status,
              0);
    const Outcome serves =
        podsim({"check", write(gemma + "}\nserving: {concurrency: 4, requests: 4, "
                                       "prompt: 160000, output: 64, slots: 4}\n")});
    EXPECT_EQ(serves.status, 0) << serves.err;

    const std::string apart =
        "hardware: {chip: v5p, slice: 2x2x1}\n"
        "model: gemma-3-27b\n"
        "mesh: {tensor: x y}\n"
        "inference: {}\n"
        "serving: {concurrency: 1, requests: 1, prompt: 8000, output: 2, slots: 1, disaggregated: "
        "{rate: 1 GB/s}}\n";
    const Scenario scenario = load_scenario(write(apart), {}, Requests::some);
    EXPECT_NEAR(serve_scenario(scenario).summary.a_transfer, (10 * 8000 + 52 * 1024) * 8192 / 1e9,
                1e-9);
}

/// Records progress, and asks to stop at the first report.
class Impatient final : public Watch {
public:
    explicit Impatient(bool stops) : stops_(stops) {}
    [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

private:
    void hear(const PhaseProgress& progress) override {
        EXPECT_EQ(progress.phase, Phase::serving);
        shares_.push_back(progress.share);
        if (stops_) {
            request_stop();
        }
    }

    bool stops_;
    std::vector<double> shares_;
};

/// Two requests: half is done, then all.
TEST_F(ServeScenario, TellsWhichShareOfItsRequestsIsServed) {
    const Scenario scenario = load_scenario(write(kServer), {}, Requests::some);
    Impatient patient(false);
    const ServingRun watched = serve_scenario(scenario, &patient);
    EXPECT_EQ(patient.shares(), (std::vector{0.5, 1.0}));
    EXPECT_EQ(watched.summary.gap.mean, serve_scenario(scenario).summary.gap.mean);
    Impatient stops(true);
    EXPECT_THROW(static_cast<void>(serve_scenario(scenario, &stops)), Stopped);
    EXPECT_EQ(stops.shares(), std::vector{0.5});
    // The simulated steps end with it, and so does a comparison.
    Impatient before(false);
    before.request_stop();
    EXPECT_THROW(static_cast<void>(serve_scenario(scenario, &before)), Stopped);
    EXPECT_TRUE(before.shares().empty());
    EXPECT_THROW(static_cast<void>(compare(scenario, &before)), Stopped);
}

TEST_F(ServeScenario, IsHeldToWhatServingRunsHave) {
    EXPECT_THAT(
        error_of(kServer + "expect: {mfu: {of: 40 %, within: 5 %}}\n"),
        HasSubstr(
            "s.yaml:6:15: expect.mfu: a serving run has no such quantity; allowed: mean_ttft, "
            "median_ttft, p99_ttft, mean_tpot, median_tpot, p99_tpot, mean_itl, median_itl, "
            "p99_itl, output_tokens_per_s, requests_per_s, goodput_requests_per_s"));
    const std::string step = kServer.substr(0, kServer.find("inference"));
    EXPECT_THAT(
        error_of(step + "inference: {step: decode, batch: 1, context: 8}\n"
                        "expect: {mean_itl: {of: 1 ms, within: 5 %}}\n"),
        HasSubstr(
            "s.yaml:5:20: expect.mean_itl: a step serves no requests; expect it of a scenario "
            "with serving, of podsim serve"));
    for (const char* const quantity : {"mean_itl", "p99_tpot"}) {
        std::string text = kServer + "expect: {" + quantity + ": {of: 1 ms, within: 5 %}}\n";
        EXPECT_EQ(error_of(text), "none");
        text.replace(text.find("output: 3"), 9, "output: 1");
        EXPECT_THAT(
            error_of(text),
            HasSubstr(fmt::format("s.yaml:6:20: expect.{}: no answer has a second token; serve "
                                  "longer answers, or leave it out",
                                  quantity)));
    }
}

/// The exit code says if all hold, and a compared row is the median between tokens.
TEST_F(ServeScenario, IsJudged) {
    const Scenario bare = load_scenario(write(kServer), {}, Requests::some);
    const double median = serve_scenario(bare).summary.gap.median;
    const std::string good =
        fmt::format("expect: {{median_itl: {{of: {} s, within: 1 %}}}}\n", median);
    const std::string bad =
        fmt::format("expect: {{median_itl: {{of: {} s, within: 1 %}}}}\n", 2 * median);
    const std::string file = write(kServer + good);
    const Outcome served = podsim({"serve", file});
    EXPECT_EQ(served.status, kDone) << served.err;
    EXPECT_THAT(served.out, HasSubstr("median_itl  holds"));
    const Comparison row = compare(load_scenario(file, {}, Requests::any));
    EXPECT_DOUBLE_EQ(row.simulated, median);
    EXPECT_FALSE(row.lower.has_value());
    ASSERT_EQ(row.verdicts.size(), 1U);
    EXPECT_TRUE(row.verdicts[0].holds);
    const std::string wrong = write(kServer + bad, "bad.yaml");
    EXPECT_EQ(podsim({"serve", wrong}).status, kExpectationFails);
    EXPECT_EQ(podsim({"compare", wrong}).status, kExpectationFails);
}

/// With 2 requests of 3 tokens the rate is 6 tokens in the run. The measurement is the time of one,
/// and counts separately; the host's time is the profile's. Training does not see it.
TEST_F(ServeScenario, IsMeasuredByItsTimesAndByItsTokens) {
    const std::string rate =
        kServer + "expect: {output_tokens_per_s: {of: 200, within: 50 %, tier: B}}\n";
    const std::string time = kServer + "expect: {mean_itl: {of: 2 ms, within: 50 %, tier: A}}\n";
    const std::vector<ScenarioSource> files{write(rate, "rate.yaml"), write(time, "time.yaml")};
    const std::vector<Scenario> scenarios = load_scenarios(files);
    EXPECT_TRUE(measurements_of(scenarios, false).empty());
    const std::vector<Measurement> found = measurements_of(scenarios, true);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].what, Measured::throughput);
    EXPECT_DOUBLE_EQ(found[0].measured_s, 1.0 / 200);
    EXPECT_EQ(found[0].noise, 3);
    EXPECT_EQ(found[1].what, Measured::step);
    EXPECT_DOUBLE_EQ(found[1].measured_s, 2e-3);
    EXPECT_EQ(found[1].noise, 1);
    SimulatedTimes times(1, nullptr);
    topology::Efficiency efficiency;
    const double none = times.of({&found[1], efficiency});
    efficiency.host_s = 5e-3;
    EXPECT_NEAR(times.of({&found[1], efficiency}) - none, 5e-3, 1e-12);
}

}  // namespace
}  // namespace podsim::scenarios
