// A search that resumes from a record, and one done by shards, give the answer of one search.
#include "scenarios/src/search/trial_record.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>

#include "scenarios/src/base/checked_line.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

class TrialRecordTest : public CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
        write(
            "hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 16}\n"
            "batch: {tokens: 64Ki, sequence: 4096}\n");
    }
    /// Runs the command over meshes and two remats, with only the results on standard output.
    [[nodiscard]] Outcome search(const Texts& more = {}) const {
        Texts args{"search", path("s.yaml"),
                   "--over", "mesh",
                   "--vary", "training.remat=none,full",
                   "--json", "-"};
        args.insert(args.end(), more.begin(), more.end());
        return podsim(args);
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::multiset<std::string> lines(const std::string& name) const {
        std::multiset<std::string> lines;
        std::istringstream file(text(name));
        for (std::string line; std::getline(file, line);) {
            lines.insert(line);
        }
        return lines;
    }
    [[nodiscard]] static std::uint64_t place(const std::string& line) {
        return nlohmann::json::parse(line)["search"]["place"];
    }
};

// One thread, so that no more is simulated than is counted: one line each.
TEST_F(TrialRecordTest, GoesOnFromWhereItWasKilled) {
    const Outcome plain = search({"--jobs", "1"});
    ASSERT_EQ(plain.status, 0) << plain.err;
    EXPECT_EQ(search({"--jobs", "1", "--jsonl", path("r")}).out, plain.out);
    const std::string whole = text("r");
    const auto counts = nlohmann::json::parse(plain.out)["counts"];
    EXPECT_GE(lines("r").size(), counts["simulated"].get<std::size_t>() +
                                     counts["pruned_while_simulated"].get<std::size_t>());
    EXPECT_EQ(nlohmann::json::parse(*lines("r").begin())["set"].size(), 2U);

    const std::size_t cut = whole.find('\n', whole.size() / 2) + 1;
    std::ofstream(path("r"), std::ios::binary) << whole.substr(0, cut + 20);
    EXPECT_EQ(search({"--jobs", "1", "--jsonl", path("r")}).out, plain.out);
    EXPECT_EQ(text("r"), whole);  // only the truncated line is simulated again
    EXPECT_EQ(search({"--jobs", "1", "--jsonl", path("r")}).out, plain.out);
    EXPECT_EQ(text("r"), whole);
}

// The record is taken as the result of a candidate: with its time doubled there, the best is no
// longer the best.
TEST_F(TrialRecordTest, IsBelieved) {
    const auto best = nlohmann::json::parse(search({"--jsonl", path("r")}).out)["best"][0];
    std::ofstream changed(path("changed"), std::ios::binary);
    for (const std::string& line : lines("r")) {
        auto read = nlohmann::ordered_json::parse(line);
        if (nlohmann::json(read["set"]) == best["set"]) {
            read["step_time_ps"] = 2 * read["step_time_ps"].get<std::int64_t>();
        }
        read.erase("crc32");
        changed << with_check(read.dump()) << '\n';
    }
    changed.close();
    const auto other = nlohmann::json::parse(search({"--read", path("changed")}).out)["best"][0];
    EXPECT_NE(other["set"], best["set"]);
}

// A simulated step below its bound would invalidate all proofs by bounds.
TEST_F(TrialRecordTest, HoldsStepsToTheirBounds) {
    const auto best = nlohmann::json::parse(search({"--jsonl", path("r")}).out)["best"][0];
    std::ofstream changed(path("changed"), std::ios::binary);
    for (const std::string& line : lines("r")) {
        auto read = nlohmann::ordered_json::parse(line);
        if (nlohmann::json(read["set"]) == best["set"]) {
            read["step_time_ps"] = 1000;
        }
        read.erase("crc32");
        changed << with_check(read.dump()) << '\n';
    }
    changed.close();
    const Outcome outcome = search({"--read", path("changed")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              fmt::format("podsim search: a record of this search says 1000 ps of the plan --set "
                          "{} --set '{}', whose bound is {:.0f} ps; it is damaged, or of another "
                          "version: begin anew\n",
                          best["set"][0].get<std::string>(), best["set"][1].get<std::string>(),
                          best["search_bound_s"].get<double>() * 1e12));
    EXPECT_EQ(outcome.out, "");
}

TEST_F(TrialRecordTest, ShardsFindTogetherWhatOneFinds) {
    const std::string plain = search().out;
    Texts all;
    std::set<std::uint64_t> places;
    std::size_t simulated = 0;
    for (const std::string shard : {"0", "1", "2"}) {
        Texts args{"--no-explain", "--shard", shard + "/3", "--jsonl", path(shard)};
        for (const std::string other : {"0", "1", "2"}) {
            if (other != shard) {
                args.insert(args.end(), {"--read", path(other)});
            }
        }
        const Outcome outcome = search(args);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        for (const std::string& line : lines(shard)) {
            places.insert(place(line));
            ++simulated;
        }
        all.insert(all.end(), {"--read", path(shard)});
    }
    EXPECT_EQ(places.size(), simulated);  // none is simulated by two
    EXPECT_GT(lines("0").size() * lines("1").size() * lines("2").size(), 0U);
    EXPECT_EQ(search(all).out, plain);
    // Nothing that decides the answer is left to simulate, except runs that ended with a weaker
    // proof than is now needed.
    EXPECT_EQ(search(Texts{"--read", path("0"), "--jsonl", path("rest")}).out, plain);
    for (const std::string& line : lines("rest")) {
        EXPECT_FALSE(lines("0").contains(line)) << line;
    }
}

// With more shards than candidates, a shard without any is done.
TEST_F(TrialRecordTest, AShardMayHaveNothingToDo) {
    const Outcome outcome =
        search({"--no-explain", "--shard", "999/1000", "--jsonl", path("last")});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("\"left_to_others\": 108"));
    EXPECT_EQ(text("last"), "");
}

// Lines without a check, of another kind than a search writes: no number is rounded.
TEST_F(TrialRecordTest, RefusesOtherKinds) {
    ASSERT_EQ(search({"--no-explain", "--jobs", "1", "--jsonl", path("r")}).status, 0);
    const std::string all = small_sweep::unchecked(text("r"));
    const std::string line = all.substr(0, all.find('\n'));
    const auto changed = [&](const std::string& pointer, const nlohmann::ordered_json& value) {
        auto read = nlohmann::ordered_json::parse(line);
        read[nlohmann::ordered_json::json_pointer(pointer)] = value;
        write(line + '\n' + read.dump() + '\n', "changed");
        return search({"--no-explain", "--read", path("changed")}).err;
    };
    const std::string problem = fmt::format(
        "{}:2:1: the file holds something else than candidates of this search; give it another "
        "path, or remove the file to begin anew\n",
        path("changed"));
    EXPECT_EQ(changed("/search/place", 1.7), problem);
    EXPECT_EQ(changed("/search/place", -1), problem);
    EXPECT_EQ(changed("/search/place", "1"), problem);
    EXPECT_EQ(changed("/step_time_ps", 1e12), problem);
    EXPECT_EQ(changed("/step_time_ps", -1), problem);
    EXPECT_EQ(changed("/peak_hbm_bytes", 7), problem);
    EXPECT_EQ(changed("/tight", false), problem);
    EXPECT_EQ(changed("/refused", 1), problem);
    EXPECT_EQ(changed("/at_least_ps", 0.5), problem);
    EXPECT_THAT(changed("/set", 1),
                HasSubstr(fmt::format("{}: 2 of its lines have no crc32, as older releases wrote "
                                      "them: they are believed unchecked\n",
                                      path("changed"))));
}

TEST_F(TrialRecordTest, RefusesWhatItIsNot) {
    EXPECT_EQ(
        search({"--shard", "0/2"}).err,
        "podsim search: --shard without --jsonl; give this shard's record a path, as in --jsonl "
        "shard-0.jsonl\n");
    EXPECT_EQ(search({"--read", path("none")}).err,
              fmt::format("--read: no file '{}'; give the --jsonl file of a search of the same "
                          "space\n",
                          path("none")));
    std::filesystem::create_directory(path("records"));
    EXPECT_EQ(search({"--read", path("records")}).err,
              fmt::format("--read: no file '{}'; give the --jsonl file of a search of the same "
                          "space\n",
                          path("records")));
    ASSERT_EQ(search({"--jsonl", path("r")}).status, 0);
    const std::string before = text("r");
    const std::string problem = fmt::format(
        "{}:1:1: the file holds something else than candidates of this search; give it another "
        "path, or remove the file to begin anew\n",
        path("r"));
    EXPECT_EQ(search({"--jsonl", path("r"), "--vary", "overlap.prefetch_layers=1,2"}).err, problem);
    EXPECT_EQ(text("r"), before);
    for (const char* const other : {"notes", "{\"model_type\": \"llama\"}", "\r\n"}) {
        write(other, "r");  // without the end of a line
        EXPECT_EQ(search({"--jsonl", path("r")}).err, problem);
        EXPECT_EQ(text("r"), other);
    }
    write("{\"sweep\": 1}\n", "r");
    EXPECT_EQ(search({"--read", path("r")}).err, problem);
    EXPECT_THAT(search({"--jsonl", "-"}).err, HasSubstr("--jsonl"));
}

}  // namespace
}  // namespace podsim::scenarios
