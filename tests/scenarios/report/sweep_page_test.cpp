// The settings of a sweep that a page has.
#include "scenarios/src/study/sweep_page.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace podsim::scenarios {
namespace {

constexpr std::size_t kCount = 1000;

Sweep sweep_of_many() {
    Varied tokens;
    tokens.key = "batch.tokens";
    for (std::size_t i = 0; i < kCount; ++i) {
        tokens.texts.push_back(std::to_string(4096 * (i + 1)));
        tokens.values.push_back(parse_yaml(tokens.texts.back(), "value"));
    }
    const ScenarioSource source =
        handed_over("", "small.yaml",
                    "name: small\nhardware: {chip: v5p, slice: 2x2x2}\nmodel: llama-3-8b\n"
                    "batch: {tokens: 32Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n",
                    false);
    return {source, {}, {tokens}, {}};
}

/// Row i takes 1000 - i seconds in i bytes, on 8 chips; every second one takes as long in more.
/// Rows 10, 20, ... are refused.
SweepRow row(std::size_t i) {
    SweepRow row;
    row.index = i;
    const std::vector<QuantityName> columns = sweep_columns();
    row.values.resize(columns.size());
    const auto set = [&](std::string_view name, Value value) {
        const auto found = std::ranges::find(columns, name, &QuantityName::name);
        row.values[static_cast<std::size_t>(found - columns.begin())] = std::move(value);
    };
    const auto half = static_cast<double>(i / 2);
    set("step_time", 1000 - half);
    set("peak_memory", i % 2 == 0 ? half : half + 0.5);
    set("chips", std::int64_t{8});
    set("fits", true);
    if (i > 0 && i % 10 == 0) {
        row.error = "no";
    }
    return row;
}

std::vector<SweepRow> rows_of(std::size_t count) {
    std::vector<SweepRow> rows;
    for (std::size_t i = 0; i < count; ++i) {
        rows.push_back(row(i));
    }
    return rows;
}

TEST(SweepPage, has_every_setting_of_a_small_sweep) {
    const Sweep sweep = sweep_of_many();
    const std::vector<SweepRow> rows = rows_of(20);
    const Page page = sweep_page(rows, sweep, sweep.title(), 20);
    EXPECT_EQ(page.title, "Sweep of small");
    ASSERT_EQ(page.result["rows"].size(), 20U);
    EXPECT_EQ(page.result["rows"][3][0], 3);  // its index
    EXPECT_EQ(page.result["rows"][3][1], 3);  // the value's index
    EXPECT_EQ(page.result["rows"][3][2], 999.0);
    EXPECT_EQ(page.result["columns"][0]["key"], "step_time_s");
    EXPECT_TRUE(page.result["rows"][10][2].is_null());
    EXPECT_EQ(page.result["rows"][10].back(), "no");
    EXPECT_FALSE(page.extra.contains("thinned"));
}

// 1000 rows, of which 50 may stay. The front of memory has the even rows that are not refused, 401,
// and the 99 odd ones behind a refused row, which no other row then beats.
TEST(SweepPage, keeps_fronts_when_it_thins_out) {
    const Sweep sweep = sweep_of_many();
    const std::vector<SweepRow> rows = rows_of(kCount);
    const Page page = sweep_page(rows, sweep, "small", 50);
    std::set<std::size_t> kept;
    for (const Json& shown : page.result["rows"]) {
        kept.insert(shown[0].get<std::size_t>());
    }
    for (std::size_t i = 0; i < kCount; i += 2) {
        EXPECT_TRUE(rows[i].refused() || kept.contains(i)) << i;
    }
    for (std::size_t i = 0; i < kCount; i += 20) {
        EXPECT_TRUE(kept.contains(i)) << i;  // every 20th, refused or not
    }
    // The 50 are even; all of them except 0 are refused.
    EXPECT_EQ(kept.size(), 401U + 99U + 49U);
    EXPECT_EQ(page.extra["thinned"][0],
              "This page has 549 of 1000 settings: those on a front, and the others evenly thinned "
              "out to fit. --csv and --jsonl have them all.");
}

}  // namespace
}  // namespace podsim::scenarios
