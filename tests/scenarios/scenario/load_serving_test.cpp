// `serving`: its fields, and every message.
#include "scenarios/src/scenario/load_serving.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

ServingSpec read(const std::string& text, const std::filesystem::path& base = {}) {
    const YamlNode tree = parse_yaml("serving:\n" + text, "s.yaml");
    sim::InputFaults faults([&](std::string_view place) { return place_of(tree, place); });
    const YamlNode sound = sound_part(tree, faults);
    const Reader root(sound, faults);
    ServingSpec spec;
    root["serving"].check({}, [&] { spec = read_serving(root["serving"], base); });
    faults.throw_all();
    return spec;
}

std::string error_of(const std::string& text, const std::filesystem::path& base = {}) {
    try {
        (void)read(text, base);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

const std::string kLoad = "  rate: 4 requests/s\n  requests: 10\n  prompt: 1Ki\n  output: 2\n";

TEST(LoadServing, fills_in_defaults) {
    const ServingSpec spec = read(kLoad + "  slots: 8\n");
    EXPECT_EQ(spec.load.arrivals, ArrivalKind::poisson);
    EXPECT_EQ(spec.load.rate, 4);
    EXPECT_EQ(spec.load.requests, 10);
    EXPECT_EQ(spec.load.seed, 1U);
    EXPECT_EQ(spec.load.prompt.kind, LengthKind::fixed);
    EXPECT_EQ(spec.load.prompt.least, 1024);
    EXPECT_EQ(spec.batching.kind, BatchingKind::continuous);
    EXPECT_EQ(spec.batching.slots, 8);
    EXPECT_EQ(spec.batching.interleave, 0);
    EXPECT_FALSE(spec.cache.pages.has_value());
    EXPECT_EQ(spec.cache.page, 16);
    EXPECT_FALSE(spec.disaggregation.has_value());
    EXPECT_EQ(spec.per_octave, 4);
    EXPECT_EQ(spec.host.ps, 0);
}

TEST(LoadServing, reads_every_key) {
    const ServingSpec spec = read(
        "  concurrency: 64\n"
        "  requests: 640\n"
        "  seed: 7\n"
        "  prompt: {least: 100, most: 300}\n"
        "  output: {mean: 200, sigma: 0.5, most: 1000}\n"
        "  prefix: {tokens: 64}\n"
        "  batching: chunked\n"
        "  slots: 32\n"
        "  budget: 512\n"
        "  mixed: false\n"
        "  interleave: 2\n"
        "  padding: power_of_two\n"
        "  host: 2 ms\n"
        "  cache: {pages: 1000, page: 32, reserve: true}\n"
        "  speculation: {tokens: 4, acceptance: 80 %}\n"
        "  objective: {first_token: 1 s, token: 50 ms}\n"
        "  grid: exact\n");
    EXPECT_EQ(spec.load.arrivals, ArrivalKind::concurrency);
    EXPECT_EQ(spec.load.concurrency, 64);
    EXPECT_EQ(spec.load.seed, 7U);
    EXPECT_EQ(spec.load.prompt.kind, LengthKind::uniform);
    EXPECT_EQ(spec.load.prompt.least, 100);
    EXPECT_EQ(spec.load.prompt.most, 300);
    EXPECT_EQ(spec.load.output.kind, LengthKind::lognormal);
    EXPECT_EQ(spec.load.output.mean, 200);
    EXPECT_EQ(spec.load.output.sigma, 0.5);
    EXPECT_EQ(spec.load.common_prefix, 64);
    EXPECT_EQ(spec.batching.kind, BatchingKind::chunked);
    EXPECT_EQ(spec.batching.budget, 512);
    EXPECT_FALSE(spec.batching.mixed);
    EXPECT_EQ(spec.batching.interleave, 2);
    EXPECT_EQ(spec.batching.padding, Padding::power_of_two);
    EXPECT_EQ(spec.host.ps, 2000000000);
    EXPECT_EQ(spec.cache.pages, 1000);
    EXPECT_EQ(spec.cache.page, 32);
    EXPECT_TRUE(spec.cache.reserve);
    EXPECT_EQ(spec.speculation.tokens, 4);
    EXPECT_DOUBLE_EQ(spec.speculation.acceptance, 0.8);
    EXPECT_EQ(spec.objective.first_token->ps, 1000000000000);
    EXPECT_EQ(spec.objective.a_token->ps, 50000000000);
    EXPECT_EQ(spec.per_octave, 0);
    const ServingSpec apart = read(
        kLoad +
        "  slots: 8\n  prefix: {share: 50 %}\n"
        "  disaggregated: {prefill: 2, generate: 3, backlog: 1, rate: 25 GB/s, latency: 10 us, "
        "bytes: 160 KiB}\n");
    EXPECT_EQ(apart.load.prefix_share, 0.5);
    EXPECT_EQ(apart.disaggregation->prefill_servers, 2);
    EXPECT_EQ(apart.disaggregation->generate_servers, 3);
    EXPECT_EQ(apart.disaggregation->backlog, 1);
    EXPECT_EQ(apart.disaggregation->rate.value(), 25e9);
    EXPECT_EQ(apart.disaggregation->latency.ps, 10000000);
    EXPECT_EQ(apart.disaggregation->a_token.value(), 163840);
}

TEST(LoadServing, reads_traces_beside_the_scenario) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "load_serving_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "r.csv") << "arrival_s,prompt,output\n0,5,1\n1,6,2\n";
    ServingSpec spec = read("  trace: r.csv\n  slots: 1\n", folder);
    EXPECT_EQ(spec.load.arrivals, ArrivalKind::trace);
    EXPECT_EQ(spec.load.requests, 2);
    EXPECT_EQ(spec.load.trace[1].prompt, 6);
    spec = read("  lengths: r.csv\n  rate: 3 requests/s\n  requests: 100\n  slots: 1\n", folder);
    EXPECT_EQ(spec.load.arrivals, ArrivalKind::poisson);
    EXPECT_EQ(spec.load.requests, 100);
    EXPECT_EQ(spec.load.trace.size(), 2U);
    std::ofstream many(folder / "many.csv");
    many << "arrival_s,prompt,output\n";
    for (int i = 0; i < 200000; ++i) {
        many << "12.5,12,3\n";  // 2 MB
    }
    many.close();
    EXPECT_EQ(read("  trace: many.csv\n  slots: 1\n", folder).load.requests, 200000);
    many.open(folder / "many.csv");
    many << std::string((64U << 20U) + 1, '1');
    many.close();
    EXPECT_EQ(error_of("  trace: many.csv\n  slots: 1\n", folder),
              (folder / "many.csv").string() +
                  ": the file is larger than 64 MiB; a trace has at most 1000000 rows");
    EXPECT_EQ(error_of("  trace: .\n  slots: 1\n", folder),
              (folder / ".").string() + ": this is a directory; name a CSV file");
    EXPECT_EQ(error_of("  trace: r.csv\n  requests: 3\n  slots: 1\n", folder),
              "s.yaml:3:13: serving.requests: '3' is out of range; allowed: 1 to 2");
    EXPECT_EQ(error_of("  trace: r.csv\n  prompt: 3\n  slots: 1\n", folder),
              "s.yaml:3:11: serving.prompt: the lengths are those of a file; leave it out");
    EXPECT_EQ(error_of("  trace: r.csv\n  lengths: r.csv\n  slots: 1\n", folder),
              "s.yaml:3:12: serving.lengths: the trace has lengths already; leave it out");
    EXPECT_EQ(error_of("  trace: r.csv\n  prefix: {share: 1 %}\n  slots: 1\n", folder),
              "s.yaml:3:11: serving.prefix: the lengths are those of a file; write a column prefix "
              "in the file");
}

struct Wrong {
    const char* text;
    const char* message;
};

TEST(LoadServing, says_what_is_wrong_and_where) {
    const Wrong loads[] = {
        {"  slots: 1\n",
         "s.yaml:2:3: serving: nothing says how requests come; write rate: 4 requests/s, "
         "concurrency: 64 or trace: requests.csv"},
        {"  rate: 1 requests/s\n  concurrency: 2\n",
         "s.yaml:3:16: serving.concurrency: 'serving.rate' says already how requests come; write "
         "one of rate, concurrency, trace"},
        {"  rate: 8 requests/min\n  requests: 1\n  prompt: 1\n  output: 1\n",
         "s.yaml:2:9: serving.rate: '8 requests/min' has the unknown unit 'requests/min'; write a "
         "rate of requests such as 4 requests/s; units: requests/s; nearest: requests/s"},
        {"  rate: 8\n  requests: 1\n  prompt: 1\n  output: 1\n",
         "s.yaml:2:9: serving.rate: '8' has no unit; write a rate of requests such as 4 "
         "requests/s; units: requests/s"},
        {"  rate: 0 requests/s\n  requests: 1\n  prompt: 1\n  output: 1\n",
         "s.yaml:2:9: serving.rate: '0 requests/s' is out of range; allowed: 1e-6 to 1e9 "
         "requests/s"},
        {"  rate: 1 requests/s\n  requests: 1\n  prompt: {least: 9, most: 8}\n",
         "s.yaml:4:19: serving.prompt.least: the shortest is longer than the longest; allowed: 1 "
         "to 8"},
        {"  rate: 1 requests/s\n  requests: 1\n  prompt: {sigma: 1, most: 8}\n",
         "s.yaml:4:19: serving.prompt.sigma: a uniform length has no sigma; write mean for a "
         "lognormal one"},
        {"  rate: 1 requests/s\n  requests: 1\n  prompt: {mean: 9, sigma: 1, most: 8}\n",
         "s.yaml:4:18: serving.prompt.mean: '9' is out of range; allowed: 1 to 8"},
        {"  rate: 1 requests/s\n  request: 1\n",
         "s.yaml:3:3: unknown serving key 'request'; did you mean 'requests'? allowed: rate, "
         "concurrency, trace, lengths, requests, seed, prompt, output, prefix, batching, slots, "
         "budget, mixed, interleave, padding, host, cache, speculation, disaggregated, objective, "
         "grid"},
    };
    for (const Wrong& wrong : loads) {
        EXPECT_NE(error_of(wrong.text).find(wrong.message), std::string::npos) << wrong.text;
    }
    const Wrong rest[] = {
        {"",
         "s.yaml:2:3: missing key 'serving.slots'; write slots: 64 (sequences at once on a "
         "server, at most)"},
        {"  slots: 8\n  prefix: {share: 1 %, tokens: 2}\n",
         "s.yaml:7:32: serving.prefix.tokens: the prefix has a share already; write one of share, "
         "tokens"},
        {"  slots: 8\n  batching: chunk\n",
         "s.yaml:7:13: unknown serving.batching 'chunk'; did you mean 'chunked'? allowed: "
         "static, continuous, chunked"},
        {"  slots: 8\n  budget: 10\n",
         "s.yaml:7:11: serving.budget: only chunked batching has a budget; write batching: "
         "chunked"},
        {"  slots: 8\n  mixed: true\n",
         "s.yaml:7:10: serving.mixed: only chunked batching mixes steps; write batching: chunked"},
        {"  slots: 8\n  batching: static\n  interleave: 1\n",
         "s.yaml:8:15: serving.interleave: prefill and decode steps do not alternate here; write "
         "batching: continuous, or mixed: false"},
        {"  slots: 8\n  batching: chunked\n  budget: 23\n  speculation: {tokens: 2, acceptance: 1 "
         "%}\n",
         "s.yaml:8:11: serving.budget: a budget of 23 tokens is less than the 24 that 8 slots "
         "decode; write a larger budget or fewer slots"},
        {"  slots: 8\n  speculation: {tokens: 2, acceptance: 101 %}\n",
         "s.yaml:7:40: serving.speculation.acceptance: '101 %' is not from 0 % to 100 %; write a "
         "percentage such as 80 %"},
        {"  slots: 8\n  batching: static\n  disaggregated: {rate: 1 GB/s}\n",
         "s.yaml:7:13: serving.batching: disaggregated generate servers batch continuously; leave "
         "it out"},
        {"  slots: 8\n  disaggregated: {prefill: 2}\n",
         "s.yaml:7:18: missing key 'serving.disaggregated.rate'; write rate: 25 GB/s (at which a "
         "prefill server sends caches)"},
        {"  slots: 8\n  objective: {first_token: 0 s, token: 0 s}\n",
         "s.yaml:7:28: serving.objective.first_token: no request is answered within '0 s'; write a "
         "time above 0 s, as in 1 s\n"
         "s.yaml:7:40: serving.objective.token: no request is answered within '0 s'; write a time "
         "above 0 s, as in 1 s"},
        {"  slots: 8\n  grid: 65\n",
         "s.yaml:7:9: serving.grid: '65' is no grid; allowed: 1 to 64 points in a factor of two, "
         "or exact"},
    };
    for (const Wrong& wrong : rest) {
        EXPECT_EQ(error_of(kLoad + wrong.text), wrong.message);
    }
}

/// A prompt of 1024 and the first of two tokens of output are 65 pages of 16; the buffer has no
/// limit of its own.
TEST(LoadServing, HoldsThePagesAgainstTheRequests) {
    EXPECT_EQ(error_of(kLoad + "  slots: 8\n  cache: {pages: 64}\n"),
              "s.yaml:7:18: serving.cache.pages: a request of 1024 + 2 tokens needs 65 pages of 16 "
              "tokens, the cache of a server has 64; allow shorter prompts and outputs, or more "
              "memory");
    EXPECT_EQ(error_of(kLoad + "  slots: 8\n  cache: {pages: 65}\n"), "none");
    EXPECT_EQ(
        error_of(kLoad + "  slots: 8\n  cache: {pages: 519, length: 1025}\n"),
        "s.yaml:7:18: serving.cache.pages: 8 buffers of 1025 tokens need 520 pages of 16 "
        "tokens, the cache of a server has 519; write fewer slots, a smaller cache.length, or "
        "more memory");
    EXPECT_EQ(error_of(kLoad + "  slots: 8\n  cache: {pages: 520, length: 1025}\n"), "none");
    EXPECT_EQ(error_of(kLoad + "  slots: 8\n  cache: {length: 1024}\n"),
              "s.yaml:7:19: serving.cache.length: a buffer of 1024 tokens is less than the 1025 "
              "that a request comes to; write a longer one, or shorter requests");
    // 9 million seconds are 106 days.
    EXPECT_EQ(
        error_of("  rate: 1e-6 requests/s\n  requests: 50\n  prompt: 10\n  output: 2\n  slots: 8\n"
                 "  cache: {pages: 65}\n"),
        "s.yaml:2:9: serving.rate: the last request comes after more than the 106 days that "
        "a run can have; write a higher rate or fewer requests");
}

/// The time between any two tokens is kept: 8 bytes each.
TEST(LoadServing, BoundsWhatARunRemembers) {
    EXPECT_EQ(
        error_of(
            "  rate: 1 requests/s\n  requests: 1000\n  prompt: 16\n  output: 1M\n  slots: 4\n"),
        "s.yaml:3:13: serving.requests: the answers have 1000000000 tokens in all, a run at "
        "most 134217728; write fewer requests, or shorter outputs");
}

TEST(LoadServing, SaysAllThatIsWrong) {
    EXPECT_EQ(
        error_of("  rate: 1 requests/s\n"
                 "  concurrency: 4\n"
                 "  prompt: {least: 9, most: 3, sigma: 2}\n"
                 "  output: {most: 3, mean: 7}\n"
                 "  prefix: {share: 3 %, tokens: 4}\n"
                 "  batching: static\n"
                 "  budget: 3\n"
                 "  interleave: 3\n"
                 "  cache: {pages: 0, length: 1}\n"
                 "  grid: 0\n"),
        "s.yaml:2:3: missing key 'serving.requests'; write requests: 1000 (how many in all)\n"
        "s.yaml:2:3: missing key 'serving.slots'; write slots: 64 (sequences at once on a "
        "server, at most)\n"
        "s.yaml:3:16: serving.concurrency: 'serving.rate' says already how requests come; "
        "write one of rate, concurrency, trace\n"
        "s.yaml:4:19: serving.prompt.least: the shortest is longer than the longest; allowed: "
        "1 to 3\n"
        "s.yaml:4:38: serving.prompt.sigma: a uniform length has no sigma; write mean for a "
        "lognormal one\n"
        "s.yaml:5:11: missing key 'serving.output.sigma'; write sigma: 0.8 (of the lognormal "
        "distribution: standard deviation of the logarithm)\n"
        "s.yaml:5:27: serving.output.mean: '7' is out of range; allowed: 1 to 3\n"
        "s.yaml:6:32: serving.prefix.tokens: the prefix has a share already; write one of "
        "share, tokens\n"
        "s.yaml:8:11: serving.budget: only chunked batching has a budget; write batching: "
        "chunked\n"
        "s.yaml:9:15: serving.interleave: prefill and decode steps do not alternate here; "
        "write batching: continuous, or mixed: false\n"
        "s.yaml:10:18: serving.cache.pages: '0' is out of range; allowed: 1 to "
        "1099511627776\n"
        "s.yaml:10:29: serving.cache.length: '1' is out of range; allowed: 2 to 16777216\n"
        "s.yaml:11:9: serving.grid: '0' is no grid; allowed: 1 to 64 points in a factor of "
        "two, or exact");
}

/// An unknown batching has no keys to check, a distribution without a valid end no length, and
/// unread requests no pages.
TEST(LoadServing, DoesNotSayWhatFollows) {
    EXPECT_EQ(error_of("  seed: 3\n"
                       "  requests: 4\n"
                       "  prompt: {least: 9, mean: 7, sigma: 1, most: 0}\n"
                       "  output: 2\n"
                       "  batching: chunky\n"
                       "  budget: 3\n"
                       "  slots: 8\n"
                       "  cache: {pages: 1}\n"),
              "s.yaml:2:3: serving: nothing says how requests come; write rate: 4 requests/s, "
              "concurrency: 64 or trace: requests.csv\n"
              "s.yaml:4:47: serving.prompt.most: '0' is out of range; allowed: 1 to 16777216\n"
              "s.yaml:6:13: unknown serving.batching 'chunky'; did you mean 'chunked'? allowed: "
              "static, continuous, chunked");
    EXPECT_EQ(error_of("  trace: none.csv\n  requests: 3\n  slots: 1\n"),
              "none.csv: cannot read the file: No such file or directory; check the path and its "
              "permissions");
}

}  // namespace
}  // namespace podsim::scenarios
