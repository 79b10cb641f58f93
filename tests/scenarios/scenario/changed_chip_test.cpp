// One changed key of a chip changes one thing: the profile stays that of the base, and a warning
// names factors measured at another rate.
#include "scenarios/src/scenario/changed_chip.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/shown_scenario.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kQuick = source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml";

Scenario quick(std::vector<std::string> settings) {
    return load_scenario(kQuick, settings);
}

sim::Time time_of(const Scenario& scenario) {
    return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
}

std::vector<std::string_view> keys_of_the_schema() {
    std::vector<std::string_view> keys;
    constexpr std::string_view kPrefix = "hardware.chip.";
    for (const KeySpec& key : schema()) {
        if (key.path.starts_with(kPrefix)) {
            keys.push_back(key.path.substr(kPrefix.size()));
        }
    }
    std::erase(keys, "base");
    std::erase(keys, "name");
    return keys;
}

/// Returns the value that `podsim show` prints for a catalogue's chip, with every digit.
std::string own_value(const std::string& chip, std::string_view key) {
    const std::string slice =
        topology::find_chip(chip).torus_dimensions.value == 2 ? "4x4" : "4x4x4";
    const ShownScenario shown = show_scenario(
        parse_yaml(fmt::format("hardware: {{chip: {}, slice: {}}}\nmodel: llama-3-8b\n"
                               "batch: {{tokens: 256Ki, sequence: 4096}}\n",
                               chip, slice),
                   "s.yaml"),
        "s.yaml");
    const auto found =
        std::ranges::find(shown.keys, fmt::format("hardware.chip.{}", key), &ShownKey::place);
    return found == shown.keys.end() ? "" : found->value;
}

TEST(ChangedChip, EveryKeyOfAChipIsInTheTable) {
    std::vector<std::string_view> names;
    std::ranges::transform(chip_keys(), std::back_inserter(names), &ChipKey::name);
    EXPECT_EQ(names, keys_of_the_schema());
    for (const ChipKey& key : chip_keys()) {
        for (const std::string_view factor : key.factors) {
            EXPECT_TRUE(std::ranges::any_of(
                topology::efficiency_factors(),
                [&](const topology::EfficiencyFactor& one) { return one.name == factor; }))
                << factor;
        }
    }
}

// Every key, in a map and by --set, and the name: 761.0 ms was once reported as 610.0.
TEST(ChangedChip, TheCataloguesOwnValueChangesNothing) {
    const Scenario base = quick({});
    const sim::Time expected = time_of(base);
    std::vector<std::string> settings{"hardware.chip={base: v5p}", "hardware.chip.name=mine",
                                      "hardware.chip.name=v6e", "hardware.chip.ici_one_way=90GB/s",
                                      "hardware.chip={base: v5p, bf16_flops: 459 TFLOP/s}"};
    for (const std::string_view key : keys_of_the_schema()) {
        const std::string value = own_value("v5p", key);
        ASSERT_FALSE(value.empty()) << key;
        settings.push_back(fmt::format("hardware.chip.{}={}", key, value));
    }
    for (const std::string& setting : settings) {
        SCOPED_TRACE(setting);
        const Scenario scenario = quick({setting});
        EXPECT_EQ(time_of(scenario), expected);
        EXPECT_EQ(scenario.hardware.efficiency, base.hardware.efficiency);
        EXPECT_EQ(scenario.hardware.error_band, base.hardware.error_band);
        EXPECT_EQ(band_of(scenario)->like, band_of(base)->like);
        EXPECT_EQ(scenario.hardware.chip.usable_hbm(), base.hardware.chip.usable_hbm());
        EXPECT_EQ(profile_label(scenario.hardware), "measured@11");
        EXPECT_THAT(changed_keys(scenario.hardware), IsEmpty());
        EXPECT_THAT(profile_warnings(scenario.hardware), IsEmpty());
    }
}

// Covers every chip, with the rates of either source.
TEST(ChangedChip, TheCataloguesOwnValueIsReadToTheLastDigit) {
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        for (const std::string_view key : keys_of_the_schema()) {
            const std::string value = own_value(chip.name, key);
            if (value.empty()) {
                continue;  // a rate that the chip does not have
            }
            const std::string slice = chip.torus_dimensions.value == 2 ? "4x4" : "4x4x4";
            const YamlNode tree = parse_yaml(
                fmt::format("hardware: {{chip: {{base: {}, {}: {}}}, slice: {}}}\n"
                            "model: llama-3-8b\nbatch: {{tokens: 256Ki, sequence: 4096}}\n",
                            chip.name, key, value, slice),
                "s.yaml");
            EXPECT_THAT(changed_keys(load_scenario(tree, "s.yaml").hardware), IsEmpty())
                << chip.name << ' ' << key << ' ' << value;
        }
    }
    const Scenario vendor =
        quick({"hardware.ici_rates=vendor", "hardware.chip.ici_one_way=90 GB/s"});
    const bool same = topology::find_chip("v5p").ici_one_way_vendor.value.value() == 90e9;
    EXPECT_EQ(changed_keys(vendor.hardware).empty(), same);
}

struct Changed {
    const char* key;
    const char* value;
    const char* factors;  ///< the warning's text on them
};
constexpr Changed kChanged[] = {
    {"bf16_flops", "500 TFLOP/s",
     "; mxu, mxu_ramp, mxu_grouped, attention, attention_backward were measured at bf16_flops "
     "459.0 TFLOP/s"},
    {"int8_ops", "1 POP/s", "; mxu_8bit was measured at int8_ops 918.0 TFLOP/s"},
    {"vpu_flops", "20 TFLOP/s", "; vpu, fusion were measured at vpu_flops 14.34 TFLOP/s"},
    {"mxu", "256",
     "; mxu, mxu_ramp, mxu_grouped, attention, attention_backward were measured at mxu 128"},
    {"hbm_bandwidth", "3 TB/s", "; hbm, gather were measured at hbm_bandwidth 2.800 TB/s"},
    {"ici_one_way", "100 GB/s", "; ici was measured at ici_one_way 90.00 GB/s"},
    {"dcn_per_host", "50 GB/s", "; dcn was measured at dcn_per_host 25.00 GB/s"},
    {"hbm_reserved", "2 GiB", ""},
    {"ici_latency", "2 us", ""},
    {"pcie_one_way", "32 GB/s", ""},
    {"pcie_latency", "2 us", ""},
    {"dcn_latency", "20 us", ""},
    {"wraparound", "every_axis", ""},
};

// Another value keeps the factors, drops the band, and names once the factors that belong to the
// other rate.
TEST(ChangedChip, FactorsOfAChangedRateSaySo) {
    const Scenario base = quick({});
    for (const Changed& one : kChanged) {
        SCOPED_TRACE(one.key);
        const Hardware& hardware =
            quick({fmt::format("hardware.chip.{}={}", one.key, one.value)}).hardware;
        EXPECT_EQ(hardware.efficiency, base.hardware.efficiency);
        EXPECT_EQ(hardware.error_band, ErrorBand{});
        EXPECT_EQ(profile_name(hardware), fmt::format("measured on v5p; changed: {}", one.key));
        EXPECT_EQ(profile_label(hardware),
                  fmt::format("measured on v5p; changed: {} (version 11)", one.key));
        EXPECT_THAT(profile_warnings(hardware),
                    ElementsAre(fmt::format(
                        "the chip is v5p with another {}: the factors of profile measured@11 stay "
                        "those of v5p, and no error band holds{}",
                        one.key, one.factors)));
        for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
            const auto& keys = chip_keys();
            const auto key = std::ranges::find(keys, std::string_view(one.key), &ChipKey::name);
            const bool stands = std::ranges::find(key->factors, factor.name) != key->factors.end();
            EXPECT_EQ(!measured_elsewhere(hardware, factor.name).empty(), stands) << factor.name;
        }
    }
}

// `ideal` applies only on request; a map of factors names its own source.
TEST(ChangedChip, WhatTheScenarioAsksForIsTaken) {
    const std::string changed = "hardware.chip.ici_one_way=100 GB/s";
    const Scenario ideal = quick({changed, "hardware.profile=ideal"});
    EXPECT_EQ(ideal.hardware.efficiency, topology::Efficiency{});
    EXPECT_EQ(profile_label(ideal.hardware), "ideal");
    EXPECT_THAT(profile_warnings(ideal.hardware), IsEmpty());
    const Scenario map = quick({changed, "hardware.profile={base: v6e, mxu: 0.8}"});
    EXPECT_EQ(profile_label(map.hardware), "measured on v6e with mxu 0.8; changed: ici_one_way");
    EXPECT_THAT(profile_warnings(map.hardware), IsEmpty());
    const Scenario named = quick({changed, "hardware.profile=measured@11"});
    EXPECT_EQ(named.hardware.efficiency, *topology::measured_efficiency("v5p"));
    EXPECT_EQ(profile_label(named.hardware), "measured on v5p; changed: ici_one_way (version 11)");
}

class ChangedChipCommands : public CommandTest {
protected:
    const std::string warning_ =
        "the chip is v5p with another ici_one_way: the factors of profile measured@11 stay those "
        "of v5p, and no error band holds; ici was measured at ici_one_way 90.00 GB/s";
    const std::string file_ = write(kGood);
};

TEST_F(ChangedChipCommands, RunSaysItOnceInTextAndJson) {
    const Outcome said = podsim({"run", file_, "--set", "hardware.chip.ici_one_way=100GB/s"});
    EXPECT_EQ(said.err, "podsim: warning: " + warning_ + '\n');
    EXPECT_THAT(said.out, HasSubstr("Assumed: profile measured on v5p; changed: ici_one_way "
                                    "(version 11), book ICI rates"));
    EXPECT_THAT(said.out, Not(HasSubstr("published steps")));
    const Json json = Json::parse(podsim({"run", file_, "--no-explain", "--json", "-", "--set",
                                          "hardware.chip.ici_one_way=100GB/s"})
                                      .out);
    EXPECT_EQ(json["profile"], "measured on v5p; changed: ici_one_way");
    EXPECT_EQ(json["profile_version"], "11");
    EXPECT_EQ(json["warnings"], Json::array({warning_}));
    EXPECT_FALSE(json.contains("error_band"));
    // The catalogue's own value, and a name, change nothing.
    const auto of = [&](const std::vector<std::string>& more) {
        std::vector<std::string> args{"run", file_, "--no-explain", "--json", "-"};
        args.insert(args.end(), more.begin(), more.end());
        Json one = Json::parse(podsim(args).out);
        for (const char* const key : {"wall_time_s", "settings_in_force", "chip"}) {
            one.erase(key);
        }
        return one;
    };
    EXPECT_EQ(of({"--set", "hardware.chip.ici_one_way=90GB/s"}), of({}));
    EXPECT_EQ(of({"--set", "hardware.chip.name=mine"}), of({}));
}

// A sweep of rates starts at the step's own time, and warns of the others once.
TEST_F(ChangedChipCommands, ASweepOfRatesStartsAtTheStepItself) {
    const Json base = Json::parse(podsim({"run", file_, "--no-explain", "--json", "-"}).out);
    const Outcome swept =
        podsim({"sweep", file_, "--vary", "hardware.chip.ici_one_way=90 GB/s,180 GB/s,360 GB/s",
                "--jsonl", path("s.jsonl"), "--report", path("s.html")});
    ASSERT_EQ(swept.status, 0) << swept.err;
    EXPECT_THAT(swept.err, HasSubstr("podsim: warning: " + warning_ + '\n'));
    EXPECT_EQ(swept.err.find(warning_), swept.err.rfind(warning_));
    std::ifstream lines(path("s.jsonl"));
    std::vector<Json> rows;
    for (std::string line; std::getline(lines, line);) {
        rows.push_back(Json::parse(line));
    }
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0]["step_time_s"], base["step_time_s"]);
    EXPECT_EQ(rows[0]["profile"], "measured");
    EXPECT_EQ(rows[0]["warnings"], Json::array());
    EXPECT_EQ(rows[1]["warnings"], Json::array({warning_}));
    EXPECT_EQ(rows[2]["warnings"], Json::array({warning_}));
    // The same from the record.
    EXPECT_THAT(
        podsim({"sweep", file_, "--vary", "hardware.chip.ici_one_way=90 GB/s,180 GB/s,360 GB/s",
                "--jsonl", path("s.jsonl")})
            .err,
        HasSubstr(warning_));
}

// Covers every other command that simulates a scenario.
TEST_F(ChangedChipCommands, OtherCommandsSayItToo) {
    const std::string changed =
        write(good_but("chip: v5p", "chip: {base: v5p, ici_one_way: 100 GB/s}"), "c.yaml");
    EXPECT_EQ(podsim({"compare", changed}).err, "podsim: warning: c: " + warning_ + '\n');
    EXPECT_EQ(podsim({"diff", file_, changed}).err, "podsim: warning: B: " + warning_ + '\n');
    ASSERT_EQ(podsim({"run", changed, "--no-explain", "--json", path("c.json")}).status, 0);
    EXPECT_EQ(podsim({"diff", path("c.json"), file_}).err,
              "podsim: warning: A: " + warning_ + '\n');
    const std::string program = write(
        "hardware: {chip: {base: v5p, ici_one_way: 100 GB/s}, slice: 4x4x4}\n"
        "program:\n  stages:\n    - {do: all-gather, axes: x, bytes: 1 GB}\n",
        "p.yaml");
    const Outcome ran = podsim({"run", program, "--json", path("p.json")});
    EXPECT_EQ(ran.err, "podsim: warning: " + warning_ + '\n') << ran.out;
    EXPECT_EQ(Json::parse(std::ifstream(path("p.json")))["warnings"], Json::array({warning_}));
    EXPECT_THAT(podsim({"show", changed}).out,
                HasSubstr("measured at ici_one_way 90.00 GB/s, which the scenario changes"));
}

// Hosts and rings by which JAX lays a mesh out are those of the base, under any name of the chip.
TEST(ChangedChip, ANameChangesNoMesh) {
    const auto mesh = [](const char* chip) {
        const Scenario scenario = load_scenario(
            parse_yaml(fmt::format("hardware: {{chip: {}, slice: 2x4}}\nmodel: llama-3-8b\n"
                                   "batch: {{tokens: 64Ki, sequence: 4096}}\n"
                                   "mesh: {{fsdp: 4, tensor: 2}}\nmesh_mapping: jax\n",
                                   chip),
                       "s.yaml"),
            "s.yaml");
        return scenario.step().mesh_axes;
    };
    for (const char* const chip : {"v5e", "v6e"}) {
        EXPECT_EQ(mesh(fmt::format("{{base: {}, name: mine}}", chip).c_str()), mesh(chip));
    }
}

}  // namespace
}  // namespace podsim::scenarios
