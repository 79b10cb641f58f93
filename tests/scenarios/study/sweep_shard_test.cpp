// `podsim sweep --shard` and `podsim merge`: any number of machines writes the same as one.
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "scenarios/src/study/sweep_record.h"
#include "sim/base/error.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using small_sweep::checked_anew;
using small_sweep::unchecked;

class SweepShards : public CommandTest {
protected:
    /// Runs six settings, of which the second and the fifth are refused: 3Ki tokens are less than
    /// a sequence.
    Outcome sweep(const std::vector<std::string>& more) {
        std::vector<std::string> args{"sweep",
                                      write("hardware: {chip: v5p, slice: 2x2x2}\n"
                                            "model: {base: llama-3-8b, layers: 2}\n"
                                            "batch: {tokens: 32Ki, sequence: 4096}\n"
                                            "mesh: {fsdp: x y z}\n"),
                                      "--vary",
                                      "training.remat=block,none",
                                      "--vary",
                                      "batch.tokens=32Ki,3Ki,64Ki"};
        args.insert(args.end(), more.begin(), more.end());
        return podsim(args);
    }

    [[nodiscard]] std::string record(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return std::move(text).str();
    }

    void cut(const std::string& name, std::size_t bytes) const {
        const std::string text = record(name);
        std::ofstream(path(name), std::ios::binary) << text.substr(0, bytes);
    }

    Outcome merge(std::vector<std::string> names) {
        std::vector<std::string> args{"merge"};
        for (const std::string& name : names) {
            args.push_back(path(name));
        }
        args.insert(args.end(), {"--jsonl", path("merged")});
        Outcome outcome = podsim(args);
        outcome.err = plain(outcome.err);
        return outcome;
    }
};

TEST(SweepShard, DealsEverySettingOutOnce) {
    for (std::size_t of = 1; of <= 9; ++of) {
        std::vector<int> dealt(7);
        for (std::size_t number = 0; number < of; ++number) {
            const SweepShard shard{number, of};
            for (std::size_t k = 0; k < shard.count(dealt.size()); ++k) {
                ++dealt.at(shard.setting(k));
            }
        }
        EXPECT_EQ(dealt, std::vector<int>(7, 1));
    }
}

TEST(SweepShard, RefusesWhatIsNone) {
    for (const char* text : {"", "3", "4/4", "-1/4", "0/0", "1/100001", "a/4", "1/4/2"}) {
        try {
            parse_shard(text);
            ADD_FAILURE() << text;
        } catch (const sim::InputError& error) {
            EXPECT_EQ(error.problem(), fmt::format("'{}' is no shard", text));
            EXPECT_EQ(error.remedy(), "write i/n, as in 3/16: i from 0 to n - 1, n at most 100000");
        }
    }
}

// Any number of shards, including eight, of which two have nothing to do. The records are in any
// order, and one machine resumes from the merged record with nothing left to run.
TEST_F(SweepShards, WriteWhatOneMachineWrites) {
    ASSERT_EQ(sweep({"--jsonl", path("one")}).status, 0);
    const std::string one = record("one");
    for (const int of : {1, 2, 3, 8}) {
        SCOPED_TRACE(of);
        std::vector<std::string> names;
        for (int number = of; number-- > 0;) {
            names.push_back(fmt::format("shard-{}-{}", number, of));
            const Outcome shard = sweep({"--shard", fmt::format("{}/{}", number, of), "--jobs", "2",
                                         "--jsonl", path(names.back())});
            EXPECT_EQ(shard.status, 0) << shard.err;
        }
        const Outcome merged = merge(names);
        EXPECT_EQ(merged.status, 0);
        EXPECT_EQ(merged.err, "");
        EXPECT_EQ(record("merged"), one);
    }
    const Outcome table = sweep({"--jsonl", path("merged")});
    EXPECT_EQ(table.out, sweep({}).out);
    EXPECT_EQ(plain(table.err),
              "podsim sweep: merged holds 6 of 6 settings already\n"
              "podsim sweep: 2 of 6 settings are refused: see their errors\n");
}

// A shard was killed in the middle of a line: the missing settings are named, nothing is written,
// and the shard's own command resumes.
TEST_F(SweepShards, GoOnAfterAKill) {
    ASSERT_EQ(sweep({"--jsonl", path("one")}).status, 0);
    ASSERT_EQ(sweep({"--shard", "0/2", "--jsonl", path("even")}).status, 0);
    ASSERT_EQ(sweep({"--shard", "1/2", "--jsonl", path("odd")}).status, 0);
    cut("odd", record("odd").size() - 10);
    const Outcome without = merge({"even", "odd"});
    EXPECT_EQ(without.status, 2);
    EXPECT_EQ(without.err,
              "podsim merge: 1 of 6 settings are missing: 5; run their shards to the end "
              "(setting s "
              "is in shard s mod n of n)\n");
    EXPECT_FALSE(std::filesystem::exists(path("merged")));
    const Outcome again = sweep({"--shard", "1/2", "--jsonl", path("odd")});
    EXPECT_EQ(plain(again.err).substr(0, 53),
              "podsim sweep: odd holds 2 of 3 settings already\npodsi");
    EXPECT_EQ(merge({"even", "odd"}).status, 0);
    EXPECT_EQ(record("merged"), record("one"));
}

TEST_F(SweepShards, RefuseOtherRecords) {
    ASSERT_EQ(sweep({"--shard", "0/2", "--jsonl", path("even")}).status, 0);
    ASSERT_EQ(sweep({"--shard", "1/2", "--jsonl", path("odd")}).status, 0);
    ASSERT_EQ(sweep({"--shard", "1/2", "--no-reuse", "--jsonl", path("other")}).status, 0);
    EXPECT_EQ(merge({"even", "other"}).err,
              "other:1:1: a line of another sweep than that of even; merge the shards of "
              "one sweep: "
              "the same scenario, options and version of podsim\n");

    // The record of another shard is refused.
    EXPECT_EQ(plain(sweep({"--shard", "0/2", "--jsonl", path("odd")}).err),
              "odd:1:1: the file holds something else than the results of this sweep; give "
              "--jsonl another "
              "path, or remove the file to begin anew\n");

    std::string changed = record("odd");
    const std::string share = "\"mfu\":0.";
    changed.replace(changed.find(share), share.size(), "\"mfu\":1.");
    write(changed, "changed");
    EXPECT_EQ(merge({"even", "odd", "changed"}).err,
              "changed:2:1: the line is damaged: its crc32 is not that of its text; remove this "
              "line and those behind it, which are then computed again\n");
    write(checked_anew(changed), "changed");
    EXPECT_EQ(merge({"even", "odd", "changed"}).err,
              "changed:2:1: another result of setting 3 than that of odd:2; leave one of the two "
              "files out\n");
    EXPECT_EQ(merge({"even", "odd", "odd"}).status, 0);

    write("{}\n", "empty");
    EXPECT_EQ(merge({"empty"}).err,
              "empty:1:1: this is no line of a sweep; give files that `podsim sweep "
              "--jsonl` has written\n");
    write("", "nothing");
    EXPECT_EQ(merge({"nothing"}).err,
              "nothing: no file has a line of a sweep; give files that `podsim sweep --jsonl` has "
              "written\n");
    EXPECT_EQ(merge({"absent"}).err,
              "absent: cannot be read: No such file or directory; give files that `podsim sweep "
              "--jsonl` has written\n");
    std::filesystem::create_directory(path("folder"));
    EXPECT_EQ(merge({"folder"}).err,
              "folder: cannot be read: Is a directory; give files that `podsim sweep --jsonl` has "
              "written\n");
    // Records are read twice, which a pipe does not allow.
    ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(
        merge({"even", "pipe", "odd"}).err,
        "pipe: is no regular file, and records are read twice; put what it gives into a file, "
        "and merge that\n");
    EXPECT_EQ(podsim({"merge", path("even")}).err,
              "podsim merge: --jsonl is missing; usage: podsim merge RECORD.jsonl ... "
              "--jsonl PATH|-\n");
    EXPECT_EQ(podsim({"merge", "--jsonl", "-"}).err,
              "podsim merge: no records; usage: podsim merge RECORD.jsonl ... --jsonl PATH|-\n");
}

// Settings refused for lack of permitted memory run again, with all that follow, when more
// is permitted.
TEST_F(SweepShards, RunAgainWhatMemoryDidNotAllow) {
    ASSERT_EQ(sweep({"--jsonl", path("one")}).status, 0);
    const std::string one = record("one");
    const std::size_t second = one.find('\n') + 1;
    std::string refused = one;
    const std::size_t end = refused.find(",\"schema\"", second);
    refused.replace(end, refused.find('\n', second) - end,
                    R"(,"schema":"podsim/2","error":"too much","needs_memory_bytes":1e9})");
    write(checked_anew(refused), "refused");
    const Outcome again = sweep({"--jsonl", path("refused")});
    EXPECT_EQ(again.status, 0);
    EXPECT_EQ(plain(again.err).substr(0, 57),
              "podsim sweep: refused holds 1 of 6 settings already\npodsi");
    EXPECT_EQ(record("refused"), one);
}

// Lines that are JSON, but not from a sweep: a name, a kind, a value that every step has, the end
// of a line.
TEST_F(SweepShards, RefuseDamagedRecords) {
    ASSERT_EQ(sweep({"--jsonl", path("one")}).status, 0);
    const std::string one = unchecked(record("one"));
    const std::vector<std::pair<std::string, std::string>> damages{
        {"\"bound\":", "\"bond\":"},
        {"\"mfu\":0.", "\"mfu\":null,\"x\":0."},
        {"\"bound\":\"", "\"bound\":7,\"x\":\""},
        {"\"step_time_s\":", "\"step_time_s\":\"a\",\"x\":"},
        {"\"memory\":{", "\"memry\":{"},
        {"\n", "\r\n"},
        {"\"fits\":true", "\"fits\":1"}};
    for (const auto& [was, is] : damages) {
        SCOPED_TRACE(is);
        std::string damaged = one;
        ASSERT_NE(damaged.find(was), std::string::npos);
        damaged.replace(damaged.find(was), was.size(), is);
        write(damaged, "damaged");
        EXPECT_EQ(plain(sweep({"--jsonl", path("damaged")}).err),
                  "damaged:1:1: the file holds something else than the results of this sweep; give "
                  "--jsonl another path, or remove the file to begin anew\n");
        EXPECT_EQ(merge({"damaged"}).err,
                  "damaged:1:1: this is no line of a sweep; give files that `podsim sweep --jsonl` "
                  "has written\n");
        EXPECT_EQ(record("damaged"), damaged);
    }
}

}  // namespace
}  // namespace podsim::scenarios
