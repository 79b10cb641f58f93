// The layer rule of CONTRIBUTING.md, counted over every #include line: there are 0 exceptions.
#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "tests/house/layer_table.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

class LayerRule : public testing::TestWithParam<Layer> {};

TEST_P(LayerRule, has_no_exceptions) {
    const Layer& layer = GetParam();
    const std::vector<std::string> found = lines_where(layer.folder, [&](const std::string& line) {
        const std::optional<Include> include = include_of(line);
        return include && !allowed(layer, *include);
    });
    EXPECT_EQ(found.size(), 0U) << "includes against the layer rule:" << joined(found);
}

TEST_P(LayerRule, looks_at_the_files) {
    std::size_t includes = 0;
    for (const SourceFile& file : source_files(GetParam().folder)) {
        includes += static_cast<std::size_t>(std::ranges::count_if(
            file.lines, [](const auto& l) { return include_of(l).has_value(); }));
    }
    EXPECT_GT(includes, 10U);
}

TEST_P(LayerRule, includes_only_rooms_of_floors_before) {
    const Layer& layer = GetParam();
    std::vector<std::string> found;
    for (const SourceFile& file : source_files(layer.folder)) {
        for (const std::string& line : file.lines) {
            const std::optional<Include> include = include_of(line);
            if (include && include->quoted && include->name.starts_with(layer.folder + '/') &&
                !room_allows(layer, file.path, include->name)) {
                found.push_back(file.path + ": " + include->name);
            }
        }
    }
    EXPECT_EQ(found.size(), 0U) << "includes against the order of rooms:" << joined(found);
}

INSTANTIATE_TEST_SUITE_P(Folders, LayerRule, testing::ValuesIn(layers()), [](const auto& layer) {
    return layer.param.tests.substr(std::string("tests/").size());
});

/// The rule, applied to single lines: the test must detect what it forbids.
TEST(LayerRuleItself, refuses_what_it_should) {
    const Layer& sim = layers().front();
    const Layer& workloads = layers()[3];
    const auto ok = [](const Layer& layer, const std::string& line) {
        return allowed(layer, include_of(line).value());
    };
    EXPECT_TRUE(ok(sim, R"(#include "sim/base/time.h")"));
    EXPECT_TRUE(ok(sim, "#include <vector>"));
    EXPECT_FALSE(ok(sim, R"(#include "topology/chips/chip.h")"));
    EXPECT_FALSE(ok(sim, "#include <yaml-cpp/yaml.h>"));
    EXPECT_FALSE(ok(sim, "  #  include \"tests/house/source_files.h\"  // why"));
    EXPECT_TRUE(ok(workloads, R"(#include "collectives/vocabulary/operation.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "collectives/algorithms/collective_schedule.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "sim/queue/event_queue.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "scenarios/src/scenario/scenario.h")"));
    EXPECT_FALSE(include_of("// #include would be here").has_value());
}

TEST(LayerRuleItself, knows_the_order_of_rooms) {
    const Layer& sim = layers().front();
    EXPECT_TRUE(room_allows(sim, "sim/state/run_state.h", "sim/base/time.h"));
    EXPECT_TRUE(room_allows(sim, "sim/state/run_state.h", "sim/state/link_servers.h"));
    EXPECT_FALSE(room_allows(sim, "sim/base/time.h", "sim/state/run_state.h"));
    EXPECT_FALSE(room_allows(sim, "sim/queue/event.h", "sim/workload/machine.h"));
    EXPECT_FALSE(room_allows(sim, "sim/state/run_state.h", "sim/time.h"));
}

}  // namespace
}  // namespace podsim::house
