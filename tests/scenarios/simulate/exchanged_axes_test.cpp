// A step does not depend on which of the equal axes of a slice its mesh calls x. Times are the
// same, and reports on an axis follow its role.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "scenarios/src/report/run_page.h"
#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/report/timeline_json.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kDense =
    "model: {base: llama-3-8b, layers: 4}\nbatch: {tokens: 256Ki, sequence: 4096}\n";
constexpr const char* kExperts =
    "model: {base: mixtral-8x7b, layers: 2}\nbatch: {tokens: 64Ki, sequence: 1024}\n";

struct Exchanged {
    std::string hardware;
    std::string rest;
    std::string mesh;
    std::vector<std::string> orders;  ///< of x, y, z, which are alike
};

const std::vector<std::string> kAll{"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};

const std::vector<Exchanged> kExchanged{
    {"{chip: v5p, slice: 4x4x4}", kDense, "{fsdp: x/2 y, context: x%2, tensor: z}", kAll},
    {"{chip: v5p, slice: 4x4x4}", std::string(kDense) + "overlap: {tensor: two-way}\n",
     "{fsdp: y z/2, tensor: x z%2}", kAll},
    {"{chip: v5p, slice: 4x4x4}", std::string(kDense) + "overlap: {context: ring}\n",
     "{context: y, fsdp: z x}", kAll},
    {"{chip: v5p, slice: 4x4x4}", std::string(kDense) + "training: {placement: plain}\n",
     "{context: z%2 y, fsdp: x z/2}", kAll},
    {"{chip: v5p, slice: 4x4x4}", std::string(kDense) + "training: {microbatches: 4}\n",
     "{pipeline: y%2, fsdp: y/2 x, tensor: z}", kAll},
    {"{chip: v5p, slice: 4x4x4}",
     std::string(kDense) + "training: {remat: {offload: [decoder_layer_input]}}\n",
     "{tensor: y, fsdp: z x}", kAll},
    {"{chip: v5p, slice: 4x4x4}", std::string(kExperts) + "training: {expert_imbalance: 1.3}\n",
     "{expert: y z%2, fsdp: x z/2}", kAll},
    {"{chip: v5p, slice: 4x4x8, twisted: true}", kDense, "{tensor: x, fsdp: y z}", {"xyz", "yxz"}},
    {"{chip: v5e, slice: 8x8}", kDense, "{tensor: y%4, fsdp: y/4 x}", {"xyz", "yxz"}},
    {"{chip: v5p, slice: 4x4x4, slices: 2}",
     kDense,
     "{data: slice, tensor: x, fsdp: y z}",
     {"xyz", "yxz"}},
};

/// The first order's x is order[0].
std::string renamed(const std::string& text, const std::string& order) {
    std::string renamed;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_axis = text[i] >= 'x' && text[i] <= 'z' && text[i - 1] == ' ';
        renamed += is_axis ? order[static_cast<std::size_t>(text[i] - 'x')] : text[i];
    }
    return renamed;
}

struct Stepped {
    Scenario scenario;
    StepResult result;
};

Stepped stepped(const Exchanged& one, const std::string& order, bool explain = true) {
    const std::string text =
        "hardware: " + one.hardware + "\n" + one.rest + "mesh: " + renamed(one.mesh, order) + "\n";
    Stepped run{load_scenario(parse_yaml(text, "step.yaml"), "step.yaml"), {}};
    run.result =
        simulate_step(run.scenario, Fold::automatic, {.explain = explain, .keep_trail = true});
    return run;
}

/// `ICI x` of the one is `ICI y` of the other if x is renamed to y.
void expect_equal(const std::vector<Share>& one, const std::vector<Share>& other,
                  const std::string& order) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        const bool ici = one[i].name.starts_with("ICI ");
        EXPECT_EQ(ici ? renamed(one[i].name, order) : one[i].name, other[i].name);
        EXPECT_EQ(one[i].time, other[i].time) << one[i].name;
    }
}

TEST(ExchangedAxes, TakeTheSameTime) {
    for (const Exchanged& one : kExchanged) {
        SCOPED_TRACE(one.hardware + one.rest + one.mesh);
        const Stepped first = stepped(one, one.orders.front());
        for (const std::string& order : one.orders) {
            SCOPED_TRACE(order);
            const Stepped other = stepped(one, order);
            EXPECT_EQ(other.result.step_time, first.result.step_time);
            EXPECT_EQ(other.result.events, first.result.events);
            EXPECT_EQ(other.result.memory.peak.value(), first.result.memory.peak.value());
            EXPECT_EQ(other.result.lower.time.value(), first.result.lower.time.value());
            EXPECT_EQ(other.result.serial.value(), first.result.serial.value());
            expect_equal(first.result.exposed, other.result.exposed, order);
            expect_equal(first.result.gap, other.result.gap, order);
            expect_equal(first.result.critical_path, other.result.critical_path, order);
            std::map<std::string, LinkUse> uses;
            for (const LinkUse& use : first.result.links) {
                const bool ici = use.name.starts_with("ici_");
                uses[ici ? "ici_" + renamed(" " + use.name.substr(4), order).substr(1) : use.name] =
                    use;
            }
            std::vector<std::string> names;
            for (const LinkUse& use : other.result.links) {
                names.push_back(use.name);
                EXPECT_EQ(use.bytes.value(), uses[use.name].bytes.value()) << use.name;
                EXPECT_EQ(use.busiest_fraction, uses[use.name].busiest_fraction) << use.name;
            }
            EXPECT_TRUE(std::ranges::is_sorted(
                names.begin(), std::ranges::find(names, std::string("pcie")), {},
                [](const std::string& name) { return name == "hbm" ? "z" : name; }));
        }
    }
}

// Only tensor uses its axis much: the bound names it, and so do links, tracks and the drawing,
// under any name.
TEST(ExchangedAxes, AreNamedAsTheyAreWritten) {
    const Exchanged one{
        "{chip: {base: v5p, bf16_flops: 2 PFLOP/s}, slice: 8x8x8}",
        "model: {base: llama-3-8b, layers: 2}\nbatch: {tokens: 1Mi, sequence: 4096}\n",
        "{tensor: x, data: y z}",
        {}};
    for (const auto& [order, axis] :
         {std::pair<std::string, std::size_t>{"xyz", 0}, {"zyx", 2}, {"yzx", 1}}) {
        SCOPED_TRACE(order);
        const std::string called(1, "xyz"[axis]);
        const Stepped tensor = stepped(one, order, false);
        EXPECT_EQ(tensor.result.lower.bound, "ici " + called);
        const auto busiest = std::ranges::max_element(
            tensor.result.links, {},
            [](const LinkUse& use) { return use.name == "hbm" ? 0 : use.bytes.value(); });
        EXPECT_EQ(busiest->name, "ici_" + called);

        TimelineCollector collector;
        tell_step(tensor.scenario, *tensor.result.trail, Detail::all, collector);
        const Timeline timeline = collector.take();
        for (const Timeline::FilledTrack& track : timeline.processes.front().tracks) {
            const bool along = track.track.name.ends_with(called);
            for (const Slice& slice : track.slices) {
                if (track.track.kind == TrackKind::link) {
                    EXPECT_EQ(slice.category == "tensor", along) << track.track.name << slice.name;
                }
            }
        }

        const Json torus = torus_json(tensor.scenario, *tensor.result.trail);
        const Json& links = torus["links"][torus["place_of_chip"][0].get<std::size_t>()]["bytes"];
        for (std::size_t link = 0; link < 6; ++link) {
            EXPECT_EQ(links[link].get<double>() > 0.9 * busiest->bytes.value(), link / 2 == axis)
                << link;
        }
    }
}

// Each member of unequal work is its own process, with the number of a chip of the slice, z
// fastest. Rank r of `context: x` is at (r, 0, 0), 16 r, of `context: z` at (0, 0, r), though both
// are simulated along one axis.
TEST(ExchangedAxes, NumberChipsOfTheSlice) {
    const Exchanged one{"{chip: v5p, slice: 4x4x4}",
                        std::string(kDense) + "training: {placement: plain}\n",
                        "{context: x, fsdp: y z}",
                        {}};
    for (const auto& [order, apart] :
         {std::pair<std::string, int>{"xyz", 16}, {"yxz", 4}, {"zyx", 1}}) {
        SCOPED_TRACE(order);
        const Stepped members = stepped(one, order, false);
        TimelineCollector collector;
        tell_step(members.scenario, *members.result.trail, Detail::steady, collector);
        const Timeline timeline = collector.take();
        ASSERT_EQ(timeline.processes.size(), 4U);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(timeline.processes[rank].process.name,
                      "/device:TPU:" + std::to_string(static_cast<int>(rank) * apart) +
                          " context rank " + std::to_string(rank));
        }
    }
}

// Each chip is drawn with its own links: the lower chip of a pair along `x%2` uses its link up,
// under any name of x.
TEST(ExchangedAxes, AreDrawnChipByChip) {
    const Exchanged one{
        "{chip: v5p, slice: 4x4x4}",
        "model: {base: llama-3-8b, layers: 2}\nbatch: {tokens: 256Ki, sequence: 4096}\n"
        "training: {microbatches: 2}\n",
        "{pipeline: x%2, data: x/2 y z}",
        {}};
    for (const auto& [order, axis] :
         {std::pair<std::string, std::size_t>{"xyz", 0}, {"zyx", 2}, {"yzx", 1}}) {
        SCOPED_TRACE(order);
        const Stepped stages = stepped(one, order, false);
        const Json torus = torus_json(stages.scenario, *stages.result.trail);
        const topology::Lattice& slice = stages.scenario.hardware.slice;
        std::vector<double> up;
        for (int at = 0; at < 4; ++at) {
            const int chip = slice.index(topology::along(static_cast<int>(axis), at));
            const auto place =
                torus["place_of_chip"][static_cast<std::size_t>(chip)].get<std::size_t>();
            up.push_back(torus["links"][place]["bytes"][2 * axis].get<double>());
        }
        EXPECT_EQ(up[0], up[2]);
        EXPECT_EQ(up[1], up[3]);
        EXPECT_NE(up[0], up[1]);
    }
}

}  // namespace
}  // namespace podsim::scenarios
