// Promises are kept: each suggestion is applied, and has its time to the picosecond.
#include "scenarios/src/advise/suggestions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <limits>
#include <map>

#include "scenarios/src/cli/run_command.h"
#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ResultOf;

class SuggestionsTest : public CommandTest {
protected:
    struct Advised {
        StepResult result;
        Suggestions suggestions;
    };
    static Advised advised(const std::string& file, const std::vector<std::string>& settings,
                           int jobs = 2) {
        const Scenario scenario = load_scenario(file, settings);
        StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
        Suggestions all = suggestions(file, settings, scenario, result, true, jobs);
        return {std::move(result), std::move(all)};
    }
    static void expect_kept(const std::string& file, const std::vector<std::string>& settings,
                            const Advised& advised) {
        std::vector<Suggestion> all = advised.suggestions.faster;
        all.insert(all.end(), advised.suggestions.fitting.begin(),
                   advised.suggestions.fitting.end());
        for (const Suggestion& one : all) {
            std::vector<std::string> with = settings;
            with.insert(with.end(), one.change.set.begin(), one.change.set.end());
            const StepResult result =
                simulate_step(load_scenario(file, with), Fold::automatic, {.explain = false});
            EXPECT_EQ(result.step_time, one.step_time) << one.change.meaning;
            EXPECT_EQ(result.memory.peak, one.memory.peak) << one.change.meaning;
            EXPECT_TRUE(result.memory.fits);
        }
    }
};

Json json_of(const Suggestions& suggestions, const StepResult& result) {
    Json json;
    add_suggestions(json, suggestions, result);
    return json;
}

constexpr const char* kTensor =
    "hardware: {chip: v5p, slice: 4x4x4}\n"
    "model: llama-3-8b\n"
    "batch: {tokens: 64Ki, sequence: 4096}\n"
    "mesh: {fsdp: y z, tensor: x}\n";

TEST_F(SuggestionsTest, EachKeepsItsPromise) {
    const std::string file = write(kTensor);
    const std::vector<std::string> settings{"model.layers=4"};
    const Advised all = advised(file, settings);
    ASSERT_GE(all.suggestions.faster.size(), 3U);
    std::vector<std::string> kinds;
    for (const Suggestion& one : all.suggestions.faster) {
        kinds.push_back(one.change.kind);
        EXPECT_LT(one.step_time.seconds(), (1 - kLeastGain) * all.result.step_time.seconds());
    }
    EXPECT_THAT(kinds, ::testing::IsSupersetOf({"remat", "tensor overlap"}));
    EXPECT_EQ(std::set(kinds.begin(), kinds.end()).size(), kinds.size());
    EXPECT_TRUE(std::ranges::is_sorted(all.suggestions.faster, {}, &Suggestion::step_time));
    expect_kept(file, settings, all);
    // The same on any number of threads.
    EXPECT_EQ(json_of(advised(file, settings, 1).suggestions, all.result),
              json_of(all.suggestions, all.result));
}

// Collectives of an axis of one member do not overlap. If the best mesh has no tensor parallelism,
// their ring steps do not belong to the best combination, though alone they gain. Every member of
// the combination gains there.
TEST_F(SuggestionsTest, WhatGainsNothingTogetherIsLeftOut) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x8}\nmodel: {base: llama-3-8b, layers: 4}\n"
        "batch: {tokens: 512Ki, sequence: 4096}\n"
        "mesh: {fsdp: x y, tensor: z%2, context: z/2}\n"
        "training: {remat: matmuls, gradients: fp32}\n");
    const Advised all = advised(file, {});
    ASSERT_GE(all.suggestions.faster.size(), 3U);
    const Suggestion& sum = all.suggestions.faster.front();
    ASSERT_THAT(sum.change.meaning, HasSubstr(" together"));
    ASSERT_THAT(sum.change.set.front(), HasSubstr("mesh="));
    ASSERT_THAT(sum.change.set.front(), Not(HasSubstr("tensor")));
    EXPECT_THAT(sum.change.set, Not(Contains("overlap.tensor=two-way")));
    bool steps_gain_alone = false;
    for (const Suggestion& one : all.suggestions.faster) {
        steps_gain_alone = steps_gain_alone || one.change.set.front() == "overlap.tensor=two-way";
    }
    EXPECT_TRUE(steps_gain_alone);
    for (std::size_t i = 1; i < sum.change.set.size(); ++i) {
        std::vector<std::string> fewer = sum.change.set;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_GT(simulate_step(load_scenario(file, fewer), Fold::automatic, {.explain = false})
                      .step_time,
                  sum.step_time)
            << sum.change.set[i];
    }
}

// The first run plays more than one event: the others are left out, on any number of threads.
TEST_F(SuggestionsTest, PlayNoMoreThanTheyMay) {
    const std::string file = write(kTensor);
    const std::vector<std::string> settings{"model.layers=1"};
    const Scenario scenario = load_scenario(file, settings);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    const auto few = [&](int jobs, std::uint64_t most_played) {
        return suggestions(file, settings, scenario, result, true, jobs, nullptr,
                           {.most_played = most_played});
    };
    const Suggestions all = few(2, std::numeric_limits<std::uint64_t>::max());
    EXPECT_THAT(all.not_tried, IsEmpty());
    EXPECT_GT(all.faster.size(), 1U);
    for (const int jobs : {1, 3}) {
        const Suggestions first = few(jobs, 0);
        EXPECT_GT(first.not_tried.size(), 10U);
        EXPECT_LE(first.faster.size(), 1U);
        EXPECT_EQ(first.not_tried.size(), few(2, 0).not_tried.size());
    }
}

// Sizes are laid out by JAX's rule, but factors give their own positions.
TEST_F(SuggestionsTest, MeshesOfSizesByARule) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
        "batch: {tokens: 256Ki, sequence: 4096}\nmesh: {fsdp: 4, tensor: 16}\nmesh_mapping: jax\n");
    const Advised all = advised(file, {});
    const auto mesh = std::ranges::find_if(
        all.suggestions.faster, [](const Suggestion& one) { return one.change.kind == "mesh"; });
    ASSERT_NE(mesh, all.suggestions.faster.end());
    EXPECT_EQ(mesh->change.set.back(), "mesh_mapping=podsim");
    expect_kept(file, {}, all);
}

// 70B with its whole forward pass kept. 8 chips cannot hold 16 bytes of each of 70.55 G parameters;
// 64 of v5p hold 17.6 GB each, but not beside the intermediates of 80 layers of a sequence of 4096.
TEST_F(SuggestionsTest, WhatDoesNotFitIsTold) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4}\nmodel: llama-3-70b\n"
        "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y z}\ntraining: {remat: none}\n");
    const Advised all = advised(file, {});
    ASSERT_FALSE(all.result.memory.fits);
    ASSERT_FALSE(all.suggestions.fitting.empty());
    EXPECT_THAT(all.suggestions.fitting.front().memory.peak,
                ::testing::Lt(all.result.memory.capacity));
    EXPECT_TRUE(std::ranges::is_sorted(all.suggestions.fitting, {}, &Suggestion::step_time));
    for (const Suggestion& one : all.suggestions.faster) {
        EXPECT_LT(one.step_time, all.result.step_time) << one.change.meaning;
    }
    expect_kept(file, {}, all);
}

// One chip with nothing recomputed: no other mesh, no collective to overlap.
TEST_F(SuggestionsTest, NothingToSay) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 1x1x1}\nmodel: {name: small, layers: 2, d_model: 1024, d_ff: "
        "4096, "
        "heads: 8, kv_heads: 8, head_dim: 128, vocabulary: 32000}\n"
        "batch: {tokens: 4096, sequence: 4096}\n"
        "training: {remat: none, attention_backward: book}\n");
    const Advised none = advised(file, {});
    EXPECT_THAT(none.suggestions.faster, IsEmpty());
    EXPECT_EQ(suggestions_text(none.suggestions, none.result),
              "Faster settings: no neighbour of this plan saves 1 %\n");
}

// The same chip with long sequences. Gradients by one kernel are 5 dot products instead of 7.
// Blocks of 2048 (2048^2 scores of 4 bytes are a quarter of the 64 MiB that a core of v5p has) take
// a sixteenth of the steps of a grid with blocks of 512.
TEST_F(SuggestionsTest, KernelsOfAttention) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 1x1x1}\nmodel: {name: small, layers: 2, d_model: 1024, d_ff: "
        "4096, "
        "heads: 8, kv_heads: 8, head_dim: 128, vocabulary: 32000}\n"
        "batch: {tokens: 32Ki, sequence: 32Ki}\ntraining: {remat: none}\n");
    const Advised all = advised(file, {});
    std::map<std::string, std::string> set;
    for (const Suggestion& one : all.suggestions.faster) {
        set[one.change.kind] = one.change.set.front();
    }
    EXPECT_EQ(set["attention kernel"], "training.attention_backward=fused");
    EXPECT_EQ(set["attention blocks"], "training.attention_blocks=2048");
    expect_kept(file, {}, all);
    // A core of v4p has 16 MiB; 1024^2 scores fill a quarter.
    for (const Suggestion& one : advised(file, {"hardware.chip=v4p"}).suggestions.faster) {
        EXPECT_THAT(one.change.set, Not(Contains("training.attention_blocks=2048")));
    }
}

// Gathers of a loop's iteration do not continue into the next.
TEST_F(SuggestionsTest, LayersUnrolled) {
    const std::string file = write(kTensor);
    const std::vector<std::string> settings{"model.layers=4", "overlap.layers=loop"};
    const Advised all = advised(file, settings);
    EXPECT_THAT(all.suggestions.faster,
                Contains(ResultOf([](const Suggestion& one) { return one.change.set; },
                                  std::vector<std::string>{"overlap.layers=unrolled"})));
    expect_kept(file, settings, all);
}

// Each chip gathers all but a sixty-fourth of the 16 experts of a layer, each 3 x 2048 x 2048
// elements (3 D F) of 2 bytes. If experts have an axis of their own, a few tokens travel instead.
TEST_F(SuggestionsTest, ExpertsOnAnAxis) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "model: {layers: 2, d_model: 2048, d_ff: 2048, heads: 16, kv_heads: 4, vocabulary: 32000, "
        "experts: {count: 16, per_token: 1, d_ff: 2048}}\n"
        "batch: {tokens: 64Ki, sequence: 1024}\nmesh: {fsdp: x y z}\n");
    const Advised all = advised(file, {});
    const auto mesh = std::ranges::find_if(
        all.suggestions.faster, [](const Suggestion& one) { return one.change.kind == "mesh"; });
    ASSERT_NE(mesh, all.suggestions.faster.end());
    EXPECT_THAT(mesh->change.set.front(), HasSubstr("expert: "));
    expect_kept(file, {}, all);
}

// A plan that keeps the whole forward pass fills the memory to 98 %. It may not fit, so it is
// not suggested.
TEST_F(SuggestionsTest, WhatMayNotFitIsNotSaid) {
    const std::string file = write(kTensor);
    const auto none = [&](std::vector<std::string> settings) {
        settings.emplace_back("training.remat=none");
        return simulate_step(load_scenario(file, settings), Fold::automatic, {.explain = false})
            .memory;
    };
    std::vector<std::string> settings{"model.layers=4"};
    settings.push_back(fmt::format("hardware.chip={{base: v5p, hbm_capacity: {:.0f} B}}",
                                   none(settings).peak.value() / 0.98));
    ASSERT_TRUE(none(settings).fits && none(settings).tight);
    const Advised all = advised(file, settings);
    ASSERT_FALSE(all.suggestions.faster.empty());
    for (const Suggestion& one : all.suggestions.faster) {
        EXPECT_FALSE(one.memory.tight) << one.change.meaning;
    }
}

TEST_F(SuggestionsTest, AStepThatDoesNotFitIsToldSo) {
    StepResult result;
    result.memory.fits = false;
    EXPECT_EQ(suggestions_text({.not_tried = {{"mesh", {"mesh={fsdp: x}"}, "fsdp 4 instead of 2"}}},
                               result),
              "Faster settings: no neighbour of this plan that fits saves 1 %\n"
              "Settings that fit: no neighbour of this plan surely does\n"
              "  not tried: 1 change that takes much longer to simulate than the step; "
              "--explain-all tries it\n"
              "    fsdp 4 instead of 2: --set 'mesh={fsdp: x}'\n");
}

// The report names the first of many, unless all are requested; JSON has all.
TEST_F(SuggestionsTest, NamesWhatWasNotTried) {
    StepResult result;
    result.memory.fits = true;
    Suggestions none;
    for (const char* const layers : {"2", "3", "4", "5"}) {
        none.not_tried.push_back({"prefetch",
                                  {fmt::format("overlap.prefetch_layers={}", layers)},
                                  fmt::format("{} layers ahead", layers)});
    }
    EXPECT_THAT(suggestions_text(none, result),
                ::testing::EndsWith("    4 layers ahead: --set overlap.prefetch_layers=4\n"
                                    "    and 1 more: --verbose names them\n"));
    EXPECT_THAT(suggestions_text(none, result, true),
                ::testing::EndsWith("    5 layers ahead: --set overlap.prefetch_layers=5\n"));
    EXPECT_EQ(json_of(none, result)["advice_not_tried"].size(), 4U);
}

// Tensors that a policy names are neighbours of each other: each can be saved, or wait at the host.
// If the step surely fits, none of them is dropped.
TEST_F(SuggestionsTest, NamedTensorsAreKeptOtherwise) {
    const std::string file = write(kTensor);
    const std::vector<std::string> settings{
        "model.layers=4", "training.remat={save: [qkv_proj], offload: [out_proj]}"};
    const Scenario scenario = load_scenario(file, settings);
    StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    ASSERT_TRUE(result.memory.fits && !result.memory.tight);
    const auto meanings = [&] {
        std::vector<std::string> all;
        for (const PlanChange& change : plan_changes(scenario, result)) {
            all.push_back(change.meaning);
        }
        return all;
    };
    EXPECT_THAT(meanings(), Contains("out_proj stays in HBM"));
    EXPECT_THAT(meanings(), Contains("attention_out waits at the host"));
    EXPECT_THAT(meanings(), Not(Contains("qkv_proj is computed again")));
    EXPECT_THAT(meanings(), Not(Contains("qkv_proj waits at the host")));
    result.memory.tight = true;
    EXPECT_THAT(meanings(), Contains("qkv_proj is computed again"));
    EXPECT_THAT(meanings(), Contains("qkv_proj waits at the host"));
}

// A step that does not fit: more microbatches, each with fewer concurrent sequences, by divisors of
// a shard's. No change appears twice.
TEST_F(SuggestionsTest, AccumulationIsTriedWhereMemoryIsShort) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 8}\n"
        "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y}\n"
        "training: {remat: full, gradients: fp32}\noverlap: {prefetch_layers: 0}\n");
    const Scenario scenario = load_scenario(file);
    StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    ASSERT_FALSE(result.memory.fits);
    std::vector<std::string> tried;
    for (const PlanChange& change : plan_changes(scenario, result)) {
        if (change.kind == "microbatches") {
            tried.push_back(change.set.front());
        }
    }
    EXPECT_THAT(tried,
                ::testing::ElementsAre("training.microbatches=2", "training.microbatches=4",
                                       "training.microbatches=8", "training.microbatches=16"));
    const Advised all = advised(file, {});
    ASSERT_FALSE(all.suggestions.fitting.empty());
    EXPECT_TRUE(std::ranges::any_of(all.suggestions.fitting, [](const Suggestion& one) {
        return one.change.kind == "microbatches";
    }));
    expect_kept(file, {}, all);
    result.memory.fits = true;
    result.memory.tight = false;
    for (const PlanChange& change : plan_changes(scenario, result)) {
        EXPECT_NE(change.kind, "microbatches");
    }
}

TEST_F(SuggestionsTest, WhatWasNotTriedIsNotAnEmptyList) {
    const Scenario scenario =
        load_scenario(write(kTensor), std::vector<std::string>{"model.layers=1"});
    RunAnswer answer{.scenario = scenario,
                     .result = simulate_step(scenario, Fold::automatic, {.explain = false}),
                     .advice = Suggestions{}};
    EXPECT_EQ(answer_json(answer)["advice"], Json::array());
    answer.advice->tried = false;
    EXPECT_FALSE(answer_json(answer).contains("advice"));
}

TEST_F(SuggestionsTest, AsTextWithWhatToWrite) {
    StepResult result;
    result.step_time = {1'000'000'000'000};
    Suggestion mesh{{"mesh", {"mesh={fsdp: y z, context: x}"}, "context 4 instead of 1"},
                    {750'000'000'000},
                    {}};
    mesh.memory.peak = sim::Bytes(5e9);
    Suggestion remat{
        {"remat", {"training.remat=none"}, "nothing is computed twice"}, {900'000'000'000}, {}};
    remat.memory.peak = sim::Bytes(2e10);
    result.memory.fits = true;
    EXPECT_EQ(suggestions_text({.faster = {mesh, remat}}, result),
              "Faster settings, each simulated      step   saves    memory\n"
              "  context 4 instead of 1         750.0 ms  25.0 %  5.000 GB\n"
              "    --set 'mesh={fsdp: y z, context: x}'\n"
              "  nothing is computed twice      900.0 ms  10.0 %  20.00 GB\n"
              "    --set training.remat=none\n");
    // Separate savings do not add up.
    EXPECT_THAT(suggestions_text({.faster = {mesh, remat}, .each_alone = true}, result),
                ::testing::EndsWith("    --set training.remat=none\n"
                                    "  no two of them together save more than the first\n"));
    EXPECT_EQ(
        json_of({.faster = {remat}}, result)["advice"].dump(),
        R"([{"kind":"remat","set":["training.remat=none"],"meaning":"nothing is computed twice",)"
        R"("step_time_s":0.9,"saved_fraction":0.1,"peak_bytes":20000000000.0,"tight":false,"within_order_noise":false}])");
    EXPECT_THAT(suggestions_text({.faster = {remat}, .noise = 0.12}, result),
                HasSubstr("900.0 ms  10.0 %, less than its order's noise  20.00 GB\n"));
    // No saving is negative: a step that fits may take longer.
    result.memory.fits = false;
    mesh.step_time = {1'110'000'000'000};
    EXPECT_THAT(
        suggestions_text({.fitting = {mesh}}, result),
        HasSubstr("Settings that fit, each simulated     step              saves    memory\n"
                  "  context 4 instead of 1           1.110 s  takes 11.0 % more  5.000 GB\n"));
}

TEST_F(SuggestionsTest, RunSaysThemUnlessToldNotToExplain) {
    const std::string file = write(kTensor);
    const Outcome with =
        podsim({"run", file, "--set", "model.layers=2", "--json", path("with.json")});
    EXPECT_THAT(with.out, HasSubstr("\nFaster settings, each simulated "));
    const Outcome without =
        podsim({"run", file, "--set", "model.layers=2", "--no-explain", "--json", "-"});
    const auto json = nlohmann::json::parse(without.out);
    for (const char* key : {"advice", "gap_s", "critical_path_s", "order_noise"}) {
        EXPECT_FALSE(json.contains(key)) << key;
    }
}

}  // namespace
}  // namespace podsim::scenarios
