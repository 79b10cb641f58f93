// JSON as text: times are exact decimals, and shares add up as decimals.
#include "scenarios/src/base/json_text.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scenarios/src/report/step_json.h"
#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using JsonTextOfSteps = CommandTest;

enum class Fraction { fails, is_dropped };

/// Returns the picoseconds of a number of seconds, from its digits alone.
std::int64_t picoseconds(std::string text, Fraction fraction = Fraction::fails) {
    const std::string written = text;
    int shift = 12;
    if (const std::size_t e = text.find('e'); e != std::string::npos) {
        shift += std::stoi(text.substr(e + 1));
        text.resize(e);
    }
    if (const std::size_t point = text.find('.'); point != std::string::npos) {
        shift -= static_cast<int>(text.size() - point - 1);
        text.erase(point, 1);
    }
    for (; shift < 0 && text.ends_with('0'); ++shift) {
        text.pop_back();
    }
    if (shift < 0 && fraction == Fraction::is_dropped) {
        const auto digits = static_cast<std::size_t>(-shift);
        text.erase(text.size() - std::min(text.size(), digits));
        shift = 0;
    }
    EXPECT_GE(shift, 0) << written;
    return std::stoll((text.empty() ? "0" : text) +
                      std::string(static_cast<std::size_t>(std::max(shift, 0)), '0'));
}

/// Collects the text of every number under its path (`gap.latency`).
class NumberTexts : public Json::json_sax_t {
public:
    static std::map<std::string, std::string> of(const std::string& text) {
        NumberTexts reader;
        EXPECT_TRUE(Json::sax_parse(text, &reader));
        return reader.texts_;
    }

    bool null() override { return true; }
    bool boolean(bool /*value*/) override { return true; }
    bool number_integer(std::int64_t value) override { return keep(std::to_string(value)); }
    bool number_unsigned(std::uint64_t value) override { return keep(std::to_string(value)); }
    bool number_float(double /*value*/, const std::string& text) override { return keep(text); }
    bool string(std::string& /*value*/) override { return true; }
    bool binary(Json::binary_t& /*value*/) override { return true; }
    bool start_object(std::size_t /*size*/) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open(); }
    bool end_array() override { return close(); }
    bool key(std::string& name) override {
        path_.back() = name;
        return true;
    }
    bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        return false;
    }

private:
    bool keep(const std::string& text) {
        std::string path;
        for (const std::string& name : path_) {
            path += path.empty() ? name : '.' + name;
        }
        texts_[path] = text;
        return true;
    }
    bool open() {
        path_.emplace_back();
        return true;
    }
    bool close() {
        path_.pop_back();
        return true;
    }

    std::vector<std::string> path_;
    std::map<std::string, std::string> texts_;
};

std::int64_t sum_under(const std::map<std::string, std::string>& texts, const std::string& path) {
    std::int64_t sum = 0;
    for (const auto& [name, text] : texts) {
        sum += name.starts_with(path + '.') ? picoseconds(text) : 0;
    }
    return sum;
}

TEST(JsonText, TimesAreTheirDecimals) {
    for (const std::int64_t ps : {70'191'339LL, 779'985'161'481LL, 4'292'314'879'064LL, 0LL, 1LL,
                                  -1LL, -779'985'161'481LL, 8'191'999'999'999'999LL}) {
        EXPECT_EQ(picoseconds(json_line(decimal_seconds({ps}))), ps);
    }
    std::mt19937_64 random(7);  // below 8192 s, of all magnitudes
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t below = std::uint64_t{8'192'000'000'000'000} >> (random() % 40);
        const auto ps = static_cast<std::int64_t>(random() % below);
        ASSERT_EQ(picoseconds(json_line(decimal_seconds({ps}))), ps);
    }
}

// The output is the JSON library's, except for digits.
TEST(JsonText, LooksAsUsual) {
    const Json json = {{"a", {1, 2.5, Json::object(), Json::array(), nullptr}},
                       {"b \"\n\xff", {{"c", {{"d", -1e-7}, {"e", 1e300}, {"f", true}}}}},
                       {"g", 4e10},
                       {"h", 3.0},
                       {"i", std::numeric_limits<double>::infinity()},
                       {"j", "\xc3\xa9\xff"}};
    const auto usual = [](const Json& value, int indent) {
        return value.dump(indent, ' ', false, Json::error_handler_t::replace);
    };
    EXPECT_EQ(json_text(json, 2), usual(json, 2));
    EXPECT_EQ(json_line(json), usual(json, -1));
    EXPECT_EQ(json_text(Json::object(), 2), "{}");
    EXPECT_EQ(json_line(0.7799851614810000), "0.779985161481");
}

TEST_F(JsonTextOfSteps, SharesOfTheCriticalPathAddUpAsDecimals) {
    const Scenario scenario = load_scenario(write(kGood));
    StepResult result;
    result.explained = true;
    result.critical_path = {
        {"MXU", {779'985'161'481}}, {"latency", {70'191'339}}, {"DCN", {4'292'314'879'064}}};
    result.gap = {{"latency", {-779'985'161'481}}, {"padding", {280'874'553'475'770}}};
    result.step_time = {779'985'161'481 + 70'191'339 + 4'292'314'879'064};
    const auto texts = NumberTexts::of(json_text(step_json(scenario, result, {}), 2));
    EXPECT_EQ(picoseconds(texts.at("step_time_s")), result.step_time.ps);
    EXPECT_EQ(sum_under(texts, "critical_path_s"), result.step_time.ps);
    EXPECT_EQ(sum_under(texts, "gap_s"), 280'874'553'475'770 - 779'985'161'481);
}

TEST_F(JsonTextOfSteps, EveryPartOfARunAddsUpAsDecimals) {
    for (const std::string mesh :
         {"fsdp: x y z", "fsdp: x y, tensor: z", "data: x, fsdp: y, tensor: z"}) {
        const Outcome run = podsim({"run", write(good_but("fsdp: x y z", mesh)), "--json", "-"});
        const auto texts = NumberTexts::of(run.out);
        const std::int64_t step = picoseconds(texts.at("step_time_s"));
        EXPECT_EQ(sum_under(texts, "critical_path_s"), step);
        EXPECT_EQ(sum_under(texts, "breakdown_s"), step);
        EXPECT_EQ(
            picoseconds(texts.at("compute_s")) + picoseconds(texts.at("exposed_communication_s")),
            step);
        EXPECT_EQ(sum_under(texts, "gap_s"),
                  step - picoseconds(texts.at("analytic.roofline_lower_s"), Fraction::is_dropped));
    }
}

/// The bound is printed as 8068057600 ps; the double is smaller.
TEST_F(JsonTextOfSteps, TheGapAddsUpWhereTheBoundIsWholePicoseconds) {
    const Outcome run = podsim({"run", write(R"(hardware: {chip: v5p, slice: 4x4x4}
model: {layers: 3, d_model: 2048, d_ff: 4096, heads: 16, kv_heads: 8, head_dim: 64, vocabulary: 32000}
batch: {tokens: 16384, sequence: 256}
mesh: {fsdp: x, context: y, tensor: z}
training: {remat: {save: [qkv_proj]}, microbatches: 8, gradients: fp32}
)"),
                                "--json", "-"});
    const auto texts = NumberTexts::of(run.out);
    EXPECT_EQ(texts.at("analytic.roofline_lower_s"), "0.0080680576");
    EXPECT_EQ(sum_under(texts, "gap_s"), picoseconds(texts.at("step_time_s")) - 8'068'057'600);
}

}  // namespace
}  // namespace podsim::scenarios
