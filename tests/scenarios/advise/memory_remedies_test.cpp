// Changes that make a step fit, compared with the step that has them.
#include "scenarios/src/advise/memory_remedies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "scenarios/src/base/format.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using SortedJson = nlohmann::json;
using MemoryRemedies = CommandTest;

constexpr const char* kTooLarge =
    "hardware: {chip: v5e, slice: 4x4}\n"
    "model: {base: llama-3-8b, layers: 8}\n"
    "batch: {tokens: 128Ki, sequence: 4096}\n"
    "mesh: {data: x, fsdp: y}\n"
    "training: {remat: none, gradients: fp32}\n"
    // The look-ahead is lowered if memory is short.
    "overlap: {prefetch_layers: 0}\n";

SortedJson memory_of(std::vector<std::string> args) {
    args.insert(args.begin(), "run");
    args.insert(args.end(), {"--no-explain", "--json", "-"});
    const Outcome outcome = podsim(args);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return SortedJson::parse(outcome.out)["memory"];
}

// Each change alone, as --set takes it, fits with the peak that it claims; the report agrees.
TEST_F(MemoryRemedies, MakeTheStepFit) {
    const std::string file = write(kTooLarge);
    const SortedJson memory = memory_of({file});
    EXPECT_EQ(memory["fits"], false);
    EXPECT_FALSE(memory.contains("least_peak_bytes"));
    const std::string report = podsim({"run", file, "--no-explain"}).out;
    std::vector<std::string> settings;
    for (const SortedJson& remedy : memory["remedies"]) {
        const auto meaning = remedy["meaning"].get<std::string>();
        EXPECT_THAT(report, HasSubstr(fmt::format(
                                "    {}: peak {} in program order, not simulated\n", meaning,
                                format_bytes(sim::Bytes(remedy["peak_bytes"].get<double>())))));
        EXPECT_EQ(remedy["simulated"], false);
        if (remedy["set"].empty()) {
            settings.push_back(meaning);
            continue;
        }
        std::vector<std::string> args{file};
        for (const std::string& setting : remedy["set"].get<std::vector<std::string>>()) {
            args.insert(args.end(), {"--set", setting});
            settings.push_back(setting);
        }
        const SortedJson with = memory_of(args);
        EXPECT_EQ(with["fits"], true) << meaning;
        EXPECT_EQ(with["peak_bytes"], remedy["peak_bytes"]) << meaning;
        EXPECT_FALSE(with.contains("remedies"));
    }
    EXPECT_THAT(settings, ElementsAre("training.remat=full",
                                      "training.remat={offload: [decoder_layer_input]}",
                                      "batch.tokens=65536", "fsdp 8 ways instead of 4 (32 chips)"));
}

// With two reductions under way the backward pass of a recomputed layer begins while the gradients
// of two others, of 4 bytes, wait for their reductions. A run therefore holds the gradients of one
// layer, 4 (4 D^2 + 3 D F + 2 D) bytes with D = 4096 and F = 4 D, more than its operations in
// program order. The capacity lies between the two: recomputation fits only in program order. With
// gathers per matrix both hold the same.
TEST_F(MemoryRemedies, AreSimulated) {
    const std::string file = write(
        "hardware: {chip: {base: v5p, hbm_capacity: 6.5 GB, hbm_reserved: 0 B}, slice: 4x4x1, "
        "profile: ideal}\n"
        "model: {layers: 4, d_model: 4096, d_ff: 16384, heads: 32, vocabulary: 4096}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n"
        "mesh: {data: x, fsdp: y}\n"
        "training: {remat: none, gradients: fp32}\n"
        "overlap: {prefetch_layers: 0}\n");
    const auto find = [](const SortedJson& memory, const char* setting) -> SortedJson {
        for (const SortedJson& remedy : memory["remedies"]) {
            if (remedy["set"] == SortedJson::array({setting})) {
                return remedy;
            }
        }
        return nullptr;
    };
    const double layer = 4.0 * (4 + 12) * 4096 * 4096 + 4.0 * 2 * 4096;
    const SortedJson in_order =
        SortedJson::parse(podsim({"check", file, "--set", "training.remat=full", "--json", "-"})
                              .out)["scenarios"][0]["memory"];
    const SortedJson with = memory_of({file, "--set", "training.remat=full"});
    EXPECT_EQ(in_order["fits"], true);
    EXPECT_EQ(with["fits"], false);
    EXPECT_EQ(with["peak_bytes"].get<double>() - in_order["peak_bytes"].get<double>(), layer);
    // The step itself holds as much beyond program order. This is counted, so full is not offered.
    EXPECT_EQ(find(memory_of({file}), "training.remat=full"), nullptr);

    const Outcome explained = podsim({"run", file, "--json", "-"});
    const SortedJson memory = SortedJson::parse(explained.out)["memory"];
    EXPECT_EQ(find(memory, "training.remat=full"), nullptr);
    const SortedJson matrices = find(memory, "overlap.weights=matmul");
    EXPECT_EQ(matrices["simulated"], true);
    EXPECT_EQ(matrices["peak_bytes"],
              memory_of({file, "--set", "overlap.weights=matmul"})["peak_bytes"]);
    EXPECT_THAT(
        podsim({"run", file}).out,
        HasSubstr(fmt::format("    overlap.weights: matmul: peak {}\n",
                              format_bytes(sim::Bytes(matrices["peak_bytes"].get<double>())))));
}

TEST_F(MemoryRemedies, WithoutOneTheLeastPeakIsSaid) {
    const std::string file = write(kTooLarge);
    const std::vector<std::string> args{file, "--set",
                                        "hardware.chip={base: v5e, hbm_capacity: 1 GB}"};
    const SortedJson memory = memory_of(args);
    EXPECT_EQ(memory["remedies"], SortedJson::array());
    const std::string report = podsim({"run", args[0], args[1], args[2], "--no-explain"}).out;
    EXPECT_THAT(report,
                HasSubstr(fmt::format(
                    "  no single change of remat, overlap, batch or fsdp ways would make it fit; "
                    "the best reaches {}\n",
                    format_bytes(sim::Bytes(memory["least_peak_bytes"].get<double>())))));
}

// A step may hold more than in program order, in which both of these fit. Claims without a
// simulation count that: each change, when applied, makes the step fit. A simulation decides on a
// change that would be left out for its events, were they not so few.
TEST_F(MemoryRemedies, CountWhatIsHeldBeyondTheProgramsOrder) {
    const char* const kBeyond[] = {
        "hardware: {chip: {base: tpu7x, hbm_capacity: 25467.338 MB}, slice: 2x2x1, profile: "
        "ideal}\n"
        "model: {base: mixtral-8x7b, layers: 3}\nmesh: {context: y z, fsdp: x}\n"
        "batch: {tokens: 16384, sequence: 2048}\ntraining: {remat: block, microbatches: 3}\n",
        "hardware: {chip: {base: v5e, hbm_capacity: 5787.610 MB}, slice: 2x2, profile: ideal}\n"
        "model: {base: llama-2-7b, layers: 4}\nmesh: {fsdp: x y}\n"
        "batch: {tokens: 4096, sequence: 512}\ntraining: {remat: none, gradients: fp32}\n"};
    for (const char* const text : kBeyond) {
        const std::string file = write(text);
        const SortedJson memory = memory_of({file});
        ASSERT_EQ(memory["fits"], false);
        std::size_t applied = 0;
        for (const SortedJson& remedy : memory["remedies"]) {
            std::vector<std::string> args{file};
            for (const std::string& setting : remedy["set"].get<std::vector<std::string>>()) {
                args.insert(args.end(), {"--set", setting});
            }
            if (args.size() > 1) {
                EXPECT_EQ(memory_of(args)["fits"], true) << remedy["meaning"];
                ++applied;
            }
        }
        EXPECT_GE(applied, 2U);
        const std::string explained = podsim({"run", file}).out;
        EXPECT_THAT(explained, HasSubstr("  each of these alone would make it fit"));
        EXPECT_THAT(explained, ::testing::Not(HasSubstr("training.remat: {offload")));
    }
}

}  // namespace
}  // namespace podsim::scenarios
