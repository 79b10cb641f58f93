// The commands end to end on small slices: streams, files, exit statuses.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/simulate/within_clock.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Commands = CommandTest;
using SortedJson = nlohmann::json;

/// Two layers on 8 chips: fast to simulate, folded or not.
constexpr const char* kCommandStep =
    "name: small\n"
    "hardware: {chip: v5p, slice: 2x2x2}\n"
    "model: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 32Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

SortedJson read_json(const std::string& path) {
    std::ifstream file(path);
    return SortedJson::parse(file);
}

TEST_F(Commands, RunPrintsAReport) {
    const Outcome outcome = podsim({"run", write(kCommandStep)});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, StartsWith("small\n  model  llama-3-8b (modified), "));
    EXPECT_THAT(outcome.out, HasSubstr(" of 8 chips"));
}

TEST_F(Commands, JsonAloneOrBesideTheReport) {
    const std::string file = write(kCommandStep);
    const Outcome alone = podsim({"run", file, "--json", "-"});
    EXPECT_EQ(alone.status, 0);
    SortedJson printed = SortedJson::parse(alone.out);
    const Outcome beside = podsim({"run", file, "--json", path("r.json")});
    EXPECT_THAT(beside.out, StartsWith("small\n"));
    SortedJson written = read_json(path("r.json"));
    printed.erase("wall_time_s");
    written.erase("wall_time_s");
    EXPECT_EQ(printed, written);
}

TEST_F(Commands, UnfoldedRunsSayTheSame) {
    const std::string file = write(kCommandStep);
    const SortedJson folded = SortedJson::parse(podsim({"run", file, "--json", "-"}).out);
    const SortedJson full =
        SortedJson::parse(podsim({"run", file, "--json", "-", "--fold", "off"}).out);
    EXPECT_EQ(folded["step_time_s"], full["step_time_s"]);
    EXPECT_EQ(full["simulated_chips"], 8);
}

TEST_F(Commands, UnfoldedStepsOfInferenceTakeAsLong) {
    for (const char* const step :
         {"{step: prefill, batch: 8, prompt: 512}", "{step: decode, batch: 64, context: 1024}"}) {
        const std::string file = write(
            std::string("hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: "
                        "3}\nmesh: {data: y, tensor: x}\ninference: ") +
            step + "\n");
        const Outcome folded = podsim({"run", file, "--fold", "auto", "--json", "-"});
        const Outcome whole = podsim({"run", file, "--fold", "off", "--json", "-"});
        ASSERT_EQ(folded.status, 0) << folded.err;
        const auto one = nlohmann::json::parse(folded.out);
        const auto other = nlohmann::json::parse(whole.out);
        EXPECT_EQ(one["step_time_s"], other["step_time_s"]) << step;
        EXPECT_EQ(other["simulated_chips"], 16) << step;
        EXPECT_LT(one["simulated_chips"], other["simulated_chips"]) << step;
    }
}

TEST_F(Commands, TheGapAndTheBreakdownAddUpInJson) {
    const SortedJson json =
        SortedJson::parse(podsim({"run", write(kCommandStep), "--json", "-"}).out);
    const auto sum = [](const SortedJson& object) {
        double total = 0;
        for (const auto& [name, seconds] : object.items()) {
            total += seconds.get<double>();
        }
        return total;
    };
    const double step = json["step_time_s"];
    const double lower = json["analytic"]["roofline_lower_s"];
    EXPECT_NEAR(sum(json["gap_s"]), step - lower, 2e-12);
    EXPECT_NEAR(
        sum(json["breakdown_s"]["compute"]) + sum(json["breakdown_s"]["exposed_communication"]),
        step, 1e-12);
    EXPECT_LE(lower, step);
}

TEST_F(Commands, TraceIsChromeJsonAndAllOfItHasMoreOfTheLinks) {
    const std::string file = write(kCommandStep);
    EXPECT_EQ(podsim({"run", file, "--trace", path("t.json")}).status, 0);
    EXPECT_EQ(podsim({"run", file, "--trace", path("all.json"), "--trace-all"}).status, 0);
    const auto messages = [](const SortedJson& trace) {
        return std::ranges::count_if(trace["traceEvents"], [](const SortedJson& event) {
            return event["ph"] == "X" && event["args"].contains("hop");
        });
    };
    const auto steady = messages(read_json(path("t.json")));
    EXPECT_GT(steady, 10);
    EXPECT_GT(messages(read_json(path("all.json"))), 2 * steady);
    const Outcome alone = podsim({"run", file, "--trace-all"});
    EXPECT_EQ(alone.status, 2);
    EXPECT_EQ(alone.err,
              "podsim run: --trace-all says how much --trace writes; write --trace with it\n");
}

TEST_F(Commands, AProgramHasATrace) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "program: {stages: [{do: all-gather, axes: x, bytes: 1 GB}]}\n");
    EXPECT_EQ(podsim({"run", file, "--trace", path("t.json")}).status, 0);
    const SortedJson events = read_json(path("t.json"))["traceEvents"];
    EXPECT_TRUE(std::ranges::any_of(events, [](const SortedJson& event) {
        return event["ph"] == "X" && event["args"].contains("bound_us");
    }));
}

TEST_F(Commands, AFailedExpectationIsStatus1) {
    const std::string file = write(std::string(kCommandStep) +
                                   "expect: {mfu: {within: 1 %, of: 0.1 %, source: made up}}\n");
    const Outcome run = podsim({"run", file});
    EXPECT_EQ(run.status, 1);
    EXPECT_THAT(run.out, HasSubstr("mfu     FAILS"));
    EXPECT_EQ(podsim({"run", file, "--set", "expect.mfu.within=1e6 %"}).status, 0);
    EXPECT_EQ(podsim({"compare", file}).status, 1);
}

TEST_F(Commands, CompareTakesFilesAndFolders) {
    write(kCommandStep, "a.yaml");
    write(std::string(kCommandStep) + "training: {remat: none}\n", "b.yaml");
    const std::string folder = std::filesystem::path(path("a.yaml")).parent_path().string();
    const Outcome text = podsim({"compare", folder});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, StartsWith("scenario  simulated"));
    EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 3);
    const SortedJson json = SortedJson::parse(podsim({"compare", folder, "--json", "-"}).out);
    EXPECT_EQ(json["schema"], "podsim/2");
    ASSERT_EQ(json["scenarios"].size(), 2U);
    for (const SortedJson& scenario : json["scenarios"]) {
        EXPECT_GE(scenario["ratio"]["roofline_lower"], 1);
        EXPECT_EQ(scenario["holds"], true);
    }
}

TEST_F(Commands, CompareStopsAtBadInputBeforeItSimulates) {
    write(kCommandStep, "a.yaml");
    const Outcome outcome = podsim({"compare", path("a.yaml"), path("none.yaml")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    std::filesystem::create_directory(path("empty"));
    EXPECT_EQ(plain(podsim({"compare", path("empty")}).err),
              "empty: this folder holds no *.yaml file; name a folder of scenarios\n");
}

TEST_F(Commands, AStepThatDoesNotFitIsAResult) {
    const Outcome outcome =
        podsim({"run", write(kCommandStep), "--set", "hardware.chip.hbm_capacity=1 GB"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("does NOT fit: "));
}

TEST_F(Commands, CollectiveHasTheKeysOfTheContract) {
    const Outcome outcome =
        podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "all-gather", "--axes",
                "xyz", "--bytes", "1e9", "--json", "-"});
    EXPECT_EQ(outcome.status, 0);
    const SortedJson json = SortedJson::parse(outcome.out);
    EXPECT_EQ(json["schema"], "podsim/2");
    for (const char* const key :
         {"simulated_s", "analytic_s", "book_s", "physical_bound_s", "algorithm", "hops", "events",
          "simulated_chips", "wall_time_s"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_GE(json["simulated_s"], json["physical_bound_s"]);
}

TEST_F(Commands, TimesBeyondTheClockAreBadInput) {
    const Outcome outcome =
        podsim({"run", write(kCommandStep), "--set", "hardware.chip.bf16_flops=1 GFLOP/s", "--set",
                "batch.tokens=1Ti"});
    EXPECT_EQ(outcome.status, 2);
    // The longest term of the closed forms: 931,272,345,346 s of FLOPs.
    const std::string message =
        "s.yaml: the simulated time exceeds 106 days (2^63 ps): its matmuls alone, at peak FLOPs, "
        "take 10778615 days; check the batch, the model and the chip's FLOPs\n";
    const SortedJson estimate = SortedJson::parse(
        podsim({"estimate", write(kCommandStep), "--set", "hardware.chip.bf16_flops=1 GFLOP/s",
                "--set", "batch.tokens=1Ti", "--json", "-"})
            .out);
    EXPECT_EQ(std::floor(estimate["roofline_lower_s"].get<double>() / 86400 + 0.5), 10778615);
    EXPECT_EQ(plain(outcome.err), message);
    const Outcome checked =
        podsim({"check", write(kCommandStep), "--set", "hardware.chip.bf16_flops=1 GFLOP/s",
                "--set", "batch.tokens=1Ti"});
    EXPECT_EQ(checked.status, 2);
    EXPECT_EQ(plain(checked.err), message);
    std::string slow = kCommandStep;
    slow.replace(slow.find("v5p"), 3, "{base: v5p, bf16_flops: 1 GFLOP/s}");
    slow.replace(slow.find("32Ki"), 4, "1Ti");
    const Outcome compared = podsim({"compare", write(slow)});
    EXPECT_EQ(compared.status, 2);
    EXPECT_EQ(plain(compared.err), message);
}

// If the closed forms are within the clock's range, the cause is one that they leave out.
TEST_F(Commands, TimesBeyondTheClockOfSlowChipsNameThem) {
    const Outcome outcome = podsim({"run", write(std::string(kCommandStep) +
                                                 "perturb: [{kind: slow_chips, factor: 1e15}]\n")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(plain(outcome.err),
                ::testing::MatchesRegex(
                    "s.yaml: the simulated time exceeds 106 days \\(2\\^63 ps\\), while its closed "
                    "forms at ideal rates say 0.[0-9]+ s; check the factors and rates of "
                    "perturb\n"));
}

// No collective within the limits of its options takes that long; this would be its message.
TEST_F(Commands, CollectivesBeyondTheClockNameTheirSize) {
    const auto message = [](const std::vector<std::string>& args) {
        return std::string(clock_error(overflow_place(args), sim::TimeOverflow()).what());
    };
    const std::string rest =
        ": the simulated time exceeds 106 days (2^63 ps); check rates, latencies and sizes";
    EXPECT_EQ(message({"collective", "--bytes", "1e15", "--op", "all-reduce"}),
              "--bytes 1e15" + rest);
    EXPECT_EQ(message({"collective", "--bytes=1 PB"}), "--bytes 1 PB" + rest);
}

TEST_F(Commands, OnlyJsonGoesToStandardOutput) {
    const std::string problem = ": only --json writes to standard output; give ";
    const Outcome trace = podsim({"run", write(kCommandStep), "--trace", "-"});
    EXPECT_EQ(trace.status, 2);
    EXPECT_EQ(trace.out, "");
    EXPECT_EQ(trace.err, "--trace -" + problem + "--trace the path of a file\n");
    for (const Outcome& page :
         {podsim({"run", write(kCommandStep), "--report", "-"}),
          podsim({"compare", write(kCommandStep), "--report", "-"}),
          podsim({"sweep", write(kCommandStep), "--vary", "batch.tokens=32Ki", "--report", "-"}),
          podsim({"collective", "--chip", "v5p", "--slice", "2x2x2", "--op", "all-gather", "--axes",
                  "xyz", "--bytes", "1e6", "--report", "-"})}) {
        EXPECT_EQ(page.status, 2);
        EXPECT_EQ(page.out, "");
        EXPECT_EQ(page.err, "--report -" + problem + "--report the path of a file\n");
    }
    const Outcome graph =
        podsim({"topology", "--chip", "v5p", "--slice", "2x2x2", "--graphviz", "-"});
    EXPECT_EQ(graph.status, 2);
    EXPECT_EQ(graph.out, "");
    EXPECT_EQ(graph.err, "--graphviz -" + problem + "--graphviz the path of a file\n");
    EXPECT_FALSE(std::filesystem::exists("-"));
}

}  // namespace
}  // namespace podsim::scenarios
