// Property: a record of a sweep, a merge or a search with one flipped bit is refused at its line,
// or leads to the same answer.
#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>
#include <string>
#include <vector>

#include "scenarios/src/base/checked_line.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/search/search_support.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using small_sweep::kSmall;
using small_sweep::kVary;
using small_sweep::text_of;
using small_sweep::unchecked;
using small_sweep::with;
using ::testing::HasSubstr;

constexpr int kFlips = 100;  // of each kind of record

struct Flip {
    std::size_t at = 0;  ///< the byte
    int bit = 0;
    std::string text;  ///< the record with the flip

    Flip(const std::string& record, std::mt19937& random)
        : at(random() % record.size()), bit(static_cast<int>(random() % 8)), text(record) {
        text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
    }
    [[nodiscard]] std::string said() const { return fmt::format("byte {}, bit {}", at, bit); }
};

class DamagedRecords : public CommandTest {
protected:
    /// Expects a refusal at the line of the flip. A line that is cut in two is refused in its
    /// first half.
    void expect_refused(const Outcome& outcome, const std::string& record, const Flip& flip) const {
        const auto end = record.begin() + static_cast<std::ptrdiff_t>(flip.at);
        const auto line = std::count(record.begin(), end, '\n') + 1;
        EXPECT_EQ(outcome.status, 2) << flip.said();
        EXPECT_EQ(outcome.out, "") << flip.said();
        EXPECT_THAT(outcome.err, HasSubstr(fmt::format("{}:{}:1: ", path("flipped"), line)))
            << flip.said();
    }
    /// True if the flip is in the last line's end: without it there is no line, and its result is
    /// computed again.
    static bool is_last_end(const std::string& record, const Flip& flip) {
        return flip.at + 1 == record.size();
    }
    std::mt19937 random_{20261129};
};

TEST_F(DamagedRecords, OfSweepsAreRefused) {
    const std::string file = write(kSmall);
    const auto sweep = [&](const std::string& jsonl) {
        return podsim(with({"sweep", file, "--jobs", "1", "--jsonl", path(jsonl)}, kVary));
    };
    const std::string table = sweep("record").out;
    const std::string record = text_of(path("record"));
    for (int i = 0; i < kFlips; ++i) {
        const Flip flip(record, random_);
        write(flip.text, "flipped");
        const Outcome outcome = sweep("flipped");
        if (is_last_end(record, flip)) {
            EXPECT_EQ(outcome.out, table);
            EXPECT_EQ(text_of(path("flipped")), record);
        } else {
            expect_refused(outcome, record, flip);
            EXPECT_EQ(text_of(path("flipped")), flip.text);
        }
    }
}

TEST_F(DamagedRecords, OfMergesAreRefused) {
    const std::string file = write(kSmall);
    for (const char* const shard : {"0", "1"}) {
        ASSERT_EQ(podsim(with({"sweep", file, "--shard", std::string(shard) + "/2", "--jsonl",
                               path(shard)},
                              kVary))
                      .status,
                  0);
    }
    const std::string record = text_of(path("1"));
    for (int i = 0; i < kFlips; ++i) {
        const Flip flip(record, random_);
        write(flip.text, "flipped");
        const Outcome outcome = podsim({"merge", path("0"), path("flipped"), "--jsonl", "-"});
        if (is_last_end(record, flip)) {
            EXPECT_EQ(outcome.status, 2);
            EXPECT_THAT(outcome.err, HasSubstr("1 of 6 settings are missing: 5"));
        } else {
            expect_refused(outcome, record, flip);
        }
    }
}

TEST_F(DamagedRecords, OfSearchesAreRefused) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x2}\nmodel: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 32Ki, sequence: 4096}\n");
    const auto search = [&](const std::string& option, const std::string& jsonl) {
        return podsim(
            {"search", file, "--over", "mesh", "--no-explain", "--jobs", "1", option, path(jsonl)});
    };
    const std::string answer = search("--jsonl", "record").out;
    const std::string record = text_of(path("record"));
    ASSERT_GT(std::ranges::count(record, '\n'), 5);
    for (int i = 0; i < kFlips; ++i) {
        const Flip flip(record, random_);
        write(flip.text, "flipped");
        const Outcome outcome = search(i % 2 == 0 ? "--jsonl" : "--read", "flipped");
        if (is_last_end(record, flip)) {
            EXPECT_EQ(outcome.out, answer);
        } else {
            expect_refused(outcome, record, flip);
        }
    }
}

// Every bit of the check member, its name included: no flip turns the line into one without
// a check.
TEST_F(DamagedRecords, NoBitOfTheCheckUndoesIt) {
    const std::string line = with_check(R"({"a":1,"b":"two"})");
    EXPECT_EQ(line, R"({"a":1,"b":"two","crc32":"33c36793"})");
    EXPECT_EQ(without_check(line), R"({"a":1,"b":"two")");
    LineChecks checks;
    EXPECT_NO_THROW(checks.look_at(line, {}));
    for (std::size_t at = 0; at < line.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string flipped = line;
            flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << bit));
            EXPECT_THROW(checks.look_at(flipped, {}), sim::InputError) << at << ' ' << bit;
        }
    }
    EXPECT_EQ(checks.unchecked(), 0U);
    EXPECT_NO_THROW(checks.look_at(R"({"a":1,"b":"two"})", {}));
    EXPECT_EQ(checks.unchecked(), 1U);
}

// Records of older releases are read, and reported as unchecked; new lines have checks.
TEST_F(DamagedRecords, OldOnesAreReadUnchecked) {
    const std::string file = write(kSmall);
    const auto sweep = [&](const std::string& jsonl) {
        return podsim(with({"sweep", file, "--jobs", "1", "--jsonl", path(jsonl)}, kVary));
    };
    const std::string table = sweep("record").out;
    const std::string record = text_of(path("record"));
    const std::string old = unchecked(record);
    ASSERT_LT(old.size(), record.size());
    const std::size_t half = old.find('\n', old.size() / 2) + 1;
    const auto kept =
        std::count(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(half), '\n');
    write(old.substr(0, half), "old");
    const std::string warning = fmt::format(
        ": {} of its lines have no crc32, as older releases wrote them: they are believed "
        "unchecked\n",
        kept);
    const Outcome resumed = sweep("old");
    EXPECT_EQ(resumed.out, table);
    EXPECT_THAT(plain(resumed.err), HasSubstr("old" + warning));
    EXPECT_EQ(unchecked(text_of(path("old"))), old);
    const Outcome merged = podsim({"merge", path("old"), path("record"), "--jsonl", "-"});
    EXPECT_EQ(merged.status, 0) << merged.err;
    EXPECT_THAT(plain(merged.err), HasSubstr("old" + warning));
    EXPECT_EQ(unchecked(merged.out), old);
}

}  // namespace
}  // namespace podsim::scenarios
