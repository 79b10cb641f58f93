// One run reports all errors of a scenario, in the order of the file, without those that only
// follow from others.
#include "scenarios/src/base/json_text.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using SeveralFaults = CommandTest;

// The mesh waits for the slice, the batch for its tokens; all others are independent.
TEST_F(SeveralFaults, AreSaidInTheOrderOfTheFile) {
    expect_refused(
        "hardware: {chip: v5p, slice: 4x4x5, oversubscription: 0.5}\n"
        "model: {base: llama-3-8b, layers: 0, norm: batch}\n"
        "batch: {tokens: lots, sequence: 4096}\n"
        "mesh: {fsdp: x y}\n"
        "training: {schedule: pipedream, microbatches: -1, logits: 3}\n"
        "overlap: {bucket: 3 B}\n"
        "perturb: [{kind: slow_chips, factor: 0.1}, {kind: slow_chips, rate: 2, factor: 2}]\n"
        "report: {price: 4.20 USD/chip-hour}\n"
        "expect: {mfu: {of: 0.4, within: 1 %}, hfu: {of: 40 %}}\n",
        "s.yaml:1:30: hardware.slice: v5p does not offer a slice 4x4x5; v5p offers lengths that "
        "are all multiples of 4, up to 8960 chips, or boxes of lengths 1, 2, 4 inside one 4x4x4 "
        "cube; nearest: 4x4x4\n"
        "s.yaml:1:55: hardware.oversubscription: '0.5' is below 1; write a ratio of 1 or more such "
        "as 2 or 1.5x; units: x\n"
        "s.yaml:2:35: layers = 0 is out of range; allowed are 1 to 4096\n"
        "s.yaml:2:44: unknown model.norm 'batch'; allowed: rms, layer, bare\n"
        "s.yaml:3:17: batch.tokens: 'lots' is not a whole number; write a whole number such as "
        "4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti\n"
        "s.yaml:5:22: unknown training.schedule 'pipedream'; allowed: gpipe, 1f1b, interleaved, "
        "zero_bubble\n"
        "s.yaml:5:47: training.microbatches: '-1' is negative; allowed: 1 to 1048576\n"
        "s.yaml:5:59: unknown training.logits '3'; allowed: bf16, fp32\n"
        "s.yaml:6:19: overlap.bucket: '3 B' is below 1 MB; write a size such as 100 MB\n"
        "s.yaml:7:38: perturb.factor: '0.1' is below 1; write a ratio of 1 or more such as 2 or "
        "1.5x; units: x\n"
        "s.yaml:7:69: perturb.rate: slow_chips has no such key; it has factor; and x, y, z, slice\n"
        "s.yaml:8:17: report.price: a price needs a token budget; write tokens beside it, such as "
        "tokens: 15T\n"
        "s.yaml:9:20: expect.mfu.of: '0.4' has no unit; write a percentage such as 10 %; units: %\n"
        "s.yaml:9:44: missing key 'expect.hfu.within'; write within: 10 % (allowed relative "
        "error)");
}

// Contradictions of the plan, setting by setting.
TEST_F(SeveralFaults, OfAPlanAreSaidTogether) {
    expect_refused(
        good_but("fsdp: x y z", "fsdp: x y, tensor: z") +
            "training: {zero: 1, schedule: gpipe, placement: plain, microbatches: 64}\n"
            "overlap: {prefetch_layers: 0.5, async: {all_gather: 2}}\n"
            "expect: {block_time: {of: 1 s, within: 1 %}}\n",
        "s.yaml:5:18: zero = 1 shards over data, but data = 1; leave it out; fsdp is ZeRO-3 "
        "already\n"
        "s.yaml:5:31: schedule of a pipeline, but the mesh has no axis pipeline; add the axis, as "
        "in mesh: {pipeline: z, fsdp: x y}\n"
        "s.yaml:5:49: placement of a sequence's parts, but context = 1: it has one part; leave it "
        "out, or add the axis context\n"
        "s.yaml:5:70: microbatches = 64, but 64 sequences on data x fsdp x expert = 16 shards make "
        "at most 4; use fewer microbatches or more tokens\n"
        "s.yaml:6:28: prefetch_layers = 0.5 of weights that are gathered by whole layers; write a "
        "whole number, or gather them by block or matmul\n"
        "s.yaml:6:40: overlap.async: the chain has no bounds by kind of collective; use it with "
        "overlap.schedule: latency_hiding\n"
        "s.yaml:7:22: expect.block_time: there are no blocks without evaluation steps; write "
        "evaluation: {tokens: 1Mi, steps: 48}");
}

// An unknown key stands for the intended one: `tokens` is not missing beside `tokns`. The mesh is
// not checked against a slice that was not understood, nor a dtype against a chip, nor anything
// against a model.
TEST_F(SeveralFaults, WhatFollowsFromOneIsNotSaid) {
    expect_refused(
        "hardware: {chip: v5, slice: 4x4x4}\n"
        "model: {hf_config: none.json}\n"
        "batch: {tokns: 256Ki, sequence: 4097}\n"
        "mesh: {fsdp: x, tensor: 7}\n"
        "training: {precision: fp8, moe: {matmul: dense}, remat: {save: [mlp_gate]}}\n"
        "expect: {tokens_per_chip: {of: 1, within: 1 %}}\n",
        "s.yaml:1:18: hardware.chip: unknown chip 'v5'; did you mean 'v5p'? allowed: v2, v3, v4p, "
        "v5p, v5e, v6e, tpu7x\n"
        "s.yaml:2:20: model.hf_config: cannot read 'none.json': No such file or directory; "
        "hf_config "
        "names a model's config.json, from this scenario's folder\n"
        "s.yaml:3:9: unknown batch key 'tokns'; did you mean 'tokens'? allowed: tokens, sequence");
    expect_refused(
        "name: x\n",
        "s.yaml:1:1: missing key 'hardware'; write hardware: {chip: v5p, slice: 4x4x4} (the "
        "machine)\n"
        "s.yaml:1:1: missing key 'model'; write model: llama-3-70b (a model of `podsim list "
        "models`, or a map of hyperparameters)\n"
        "s.yaml:1:1: missing key 'batch'; write batch: {tokens: 4Mi, sequence: 4096} (the global "
        "batch of a step)");
}

// The fourth entry is no stage; the fifth keeps its index.
TEST_F(SeveralFaults, OfStagesAreSaidTogether) {
    expect_refused(
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "batch: {tokens: 256Ki, sequence: 4096}\n"
        "program:\n"
        "  pieces: 0\n"
        "  stages:\n"
        "    - {do: all-gather, axes: x, bytes: 1, root: 1}\n"
        "    - {do: permute, axes: x, bytes: 1 GB, shift: 4}\n"
        "    - {do: permute, axes: x/3, bytes: 1 GB, shift: 4}\n"
        "    - 3\n"
        "    - {do: read-hbm}\n"
        "expect: {mfu: {of: 3 %, within: 2 %}}\n",
        "s.yaml:2:8: batch: a program has no training step; leave it out, or leave out program\n"
        "s.yaml:4:11: program.pieces: '0' is out of range; allowed: 1 to 4096\n"
        "s.yaml:6:40: program.stages.bytes: '1' has no unit; write a size such as 64 MiB; units: "
        "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB\n"
        "s.yaml:6:49: program.stages.root: all-gather has no such key; it has axes, bytes, "
        "algorithm\n"
        "s.yaml:7:50: program.stages.shift: '4' moves nothing in a group of 4; write a whole "
        "number that is not a multiple of 4\n"
        "s.yaml:8:27: program.stages.axes: factor 'x/3': stride 3 does not divide axis x of length "
        "4; allowed: 1, 2, "
        "4; nearest: 2\n"
        "s.yaml:9:7: an entry of 'program.stages' is text; write stages: [{do: all-gather, axes: "
        "xyz, bytes: 1 GB}]\n"
        "s.yaml:10:7: missing key 'program.stages.bytes'; write bytes: 1 GB (of the array: of a "
        "group, or (PCIe, HBM) of all chips together)\n"
        "s.yaml:11:15: expect.mfu: a program has no such quantity; allowed: step_time, book, "
        "roofline_lower, hosts, cores, peak_flops, memory_of_all, arithmetic_intensity, "
        "critical_intensity");
}

TEST_F(SeveralFaults, OfSettingsStandBeforeThoseOfTheFile) {
    expect_refused(good_but("256Ki", "lots"),
                   "--set hardware.slices=0: hardware.slices: '0' is out of range; allowed: 1 to "
                   "4096\n"
                   "s.yaml:3:17: batch.tokens: 'lots' is not a whole number; write a whole number "
                   "such as 4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti",
                   {"--set", "hardware.slices=0"});
}

// `compare` reads all files before it runs the first.
TEST_F(SeveralFaults, OfSeveralFilesAreSaidTogether) {
    const std::string a = write(good_but("v5p", "v5"), "a.yaml");
    const std::string b = write(kGood, "b.yaml");
    const std::string c = write(good_but("256Ki", "-5") + "training: {logits: 3}\n", "c.yaml");
    const Outcome outcome = podsim({"compare", a, b, c});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(plain(outcome.err),
              "a.yaml:1:18: hardware.chip: unknown chip 'v5'; did you mean 'v5p'? allowed: v2, v3, "
              "v4p, v5p, v5e, v6e, tpu7x\n"
              "c.yaml:3:17: batch.tokens: '-5' is negative; write a whole number such as 4Mi; "
              "units: k, M, G, T, Ki, Mi, Gi, Ti\n"
              "c.yaml:5:20: unknown training.logits '3'; allowed: bf16, fp32\n");
}

// A row of a sweep has them in one text.
TEST_F(SeveralFaults, OfASettingOfASweepStandInItsRow) {
    const std::string file = write(good_but("v5p", "v5p, slices: 0") + "training: {zero: 1}\n");
    const Outcome outcome = podsim({"sweep", file, "--vary", "batch.tokens=lots", "--jsonl", "-"});
    EXPECT_EQ(plain(Json::parse(outcome.out)["error"].get<std::string>()),
              "--vary batch.tokens=lots: batch.tokens: 'lots' is not a whole number; write a whole "
              "number such as 4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti | "
              "s.yaml:1:31: hardware.slices: '0' is out of range; allowed: 1 to 4096");
}

}  // namespace
}  // namespace podsim::scenarios
