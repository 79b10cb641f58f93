// Every kind of bad scenario: exit status 2 and one message, verbatim.
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using BadInput = CommandTest;

const std::string kRateUnits =
    "write a rate such as 90 GB/s; units: B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, "
    "Mb/s, Gb/s, Tb/s";

TEST_F(BadInput, UnknownKey) {
    expect_refused(std::string(kGood) + "trainig: {remat: block}\n",
                   std::string("s.yaml:5:1: unknown key 'trainig'; did you mean 'training'? "
                               "allowed: ") +
                       kTopKeys);
    expect_refused(
        good_but("slice", "slise"),
        "s.yaml:1:23: unknown hardware key 'slise'; did you mean 'slice'? allowed: chip, "
        "slice, slices, oversubscription, twisted, core_clock, profile, ici_rates, latency, hbm, "
        "message_cap");
    expect_refused(good_but("fsdp: x y z", "fsdp: x y, tenser: z"),
                   "s.yaml:4:19: unknown mesh key 'tenser'; did you mean 'tensor'? allowed: data, "
                   "fsdp, context, tensor, tensor_transpose, cache, pipeline, expert");
}

TEST_F(BadInput, PipelinesThatDoNotDivide) {
    const auto pipeline = [](const std::string& training) {
        return good_but("fsdp: x y z", "fsdp: x y, pipeline: z") + "training: {" + training + "}\n";
    };
    expect_refused(pipeline("microbatches: 8"),
                   "s.yaml:5:26: microbatches = 8, but 64 sequences on data x fsdp x expert = 16 "
                   "shards make at most 4; use fewer microbatches or more tokens");
    expect_refused(
        pipeline("microbatches: 4, schedule: interleaved, chunks: 3"),
        "s.yaml:4:29: pipeline x chunks = 12 does not divide the 32 layers of llama-3-8b "
        "into equal runs; the nearest that work are 8 and 16");
    expect_refused(pipeline("microbatches: 3, schedule: interleaved, chunks: 2"),
                   "s.yaml:5:26: microbatches = 3 is not a multiple of pipeline = 4, which the "
                   "interleaved schedule needs; the nearest that works is 4");
    expect_refused(
        pipeline("microbatches: 4, chunks: 2"),
        "s.yaml:5:37: chunks = 2 with the chosen schedule; interleaved needs two chunks or "
        "more, the others have one");
    expect_refused(pipeline("schedule: pipedream"),
                   "s.yaml:5:22: unknown training.schedule 'pipedream'; allowed: gpipe, 1f1b, "
                   "interleaved, zero_bubble");
    expect_refused(
        std::string(kGood) + "training: {schedule: gpipe}\n",
        "s.yaml:5:22: schedule of a pipeline, but the mesh has no axis pipeline; add the "
        "axis, as in mesh: {pipeline: z, fsdp: x y}");
}

TEST_F(BadInput, AKeyWithADotDoesNotReachIntoTheSchema) {
    expect_refused(std::string(kGood) + "\"hardware.slice\": 4x4x4\n",
                   std::string("s.yaml:5:1: unknown key 'hardware.slice'; did you mean 'hardware'? "
                               "allowed: ") +
                       kTopKeys);
}

TEST_F(BadInput, MissingAndWrongUnits) {
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, ici_one_way: 90}"),
                   "s.yaml:1:43: hardware.chip.ici_one_way: '90' has no unit; " + kRateUnits);
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, ici_one_way: 90 GB}"),
                   "s.yaml:1:43: hardware.chip.ici_one_way: '90 GB' has the unknown unit 'GB'; " +
                       kRateUnits + "; nearest: GB/s");
    expect_refused(
        std::string(kGood) + "expect: {mfu: {within: 10 %, of: 0.4}}\n",
        "s.yaml:5:34: expect.mfu.of: '0.4' has no unit; write a percentage such as 10 %; "
        "units: %");
}

TEST_F(BadInput, NumbersThatAreNone) {
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, ici_latency: nan us}"),
                   "s.yaml:1:43: hardware.chip.ici_latency: 'nan us' is not a number; write a time "
                   "such as 1 us; units: ps, ns, us, ms, s");
    expect_refused(std::string(kGood) + "training: {microbatches: -1}\n",
                   "s.yaml:5:26: training.microbatches: '-1' is negative; allowed: 1 to 1048576");
    const std::string counts =
        "; write a whole number such as 4Mi; units: k, M, G, T, Ki, Mi, Gi, Ti";
    expect_refused(good_but("256Ki", "-5"), "s.yaml:3:17: batch.tokens: '-5' is negative" + counts);
    expect_refused(good_but("256Ki", "1e400"),
                   "s.yaml:3:17: batch.tokens: '1e400' is out of range" + counts);
    expect_refused(good_but("256Ki", "lots"),
                   "s.yaml:3:17: batch.tokens: 'lots' is not a whole number" + counts);
}

TEST_F(BadInput, GroupsOfWeights) {
    expect_refused(std::string(kGood) + "overlap: {weights: matrix}\n",
                   "s.yaml:5:20: unknown overlap.weights 'matrix'; allowed: layer, block, matmul");
    expect_refused(std::string(kGood) + "overlap: {prefetch_layers: 0.5}\n",
                   "s.yaml:5:28: prefetch_layers = 0.5 of weights that are gathered by whole "
                   "layers; write a whole number, or gather them by block or matmul");
    expect_refused(std::string(kGood) + "overlap: {prefetch_layers: 5000}\n",
                   "s.yaml:5:28: overlap.prefetch_layers: '5000' is out of range; allowed are 0 "
                   "to 4096");
}

TEST_F(BadInput, ImpossibleSlice) {
    expect_refused(
        good_but("4x4x4", "4x4x5"),
        "s.yaml:1:30: hardware.slice: v5p does not offer a slice 4x4x5; v5p offers "
        "lengths that are all multiples of 4, up to 8960 chips, or boxes of lengths 1, 2, "
        "4 inside one 4x4x4 cube; nearest: 4x4x4");
    // A number of chips stands for the slice nearest to a cube with that many.
    expect_refused(
        good_but("4x4x4", "512"),
        "s.yaml:1:30: hardware.slice: v5p does not offer a slice 512x1x1; v5p offers "
        "lengths that are all multiples of 4, up to 8960 chips, or boxes of lengths 1, 2, "
        "4 inside one 4x4x4 cube; nearest: 512x4x4 by lengths, 8x8x8 by number of chips");
    expect_refused(good_but("4x4x4", "100x100x100"),
                   "s.yaml:1:30: hardware.slice: 100x100x100 has 1000000 chips; at most 100000 are "
                   "allowed");
}

// The pod of a modified chip bounds its slices, under any wraparound rule.
TEST_F(BadInput, SlicesBeyondThePod) {
    expect_refused(good_but("chip: v5p, slice: 4x4x4", "chip: {base: v5e, pod: 4x4}, slice: 16x16"),
                   "s.yaml:1:48: hardware.slice: v5e (modified) does not offer a slice 16x16; v5e "
                   "(modified) offers lengths that are powers of two, up to 4x4; nearest: 4x4");
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, pod: 4x4}"),
                   "s.yaml:1:48: hardware.slice: v5p (modified) does not offer a slice 4x4x4; v5p "
                   "(modified) offers boxes of lengths 1, 2, 4, up to 16 chips; nearest: 1x4x4");
    expect_refused(good_but("chip: v5p, slice: 4x4x4",
                            "chip: {base: v5p, wraparound: every_axis, pod: 4x4x4}, slice: "
                            "10x10x10"),
                   "s.yaml:1:74: hardware.slice: v5p (modified) does not offer a slice 10x10x10; "
                   "v5p (modified) offers any lengths on 3 axes, up to 4x4x4; nearest: 4x4x4");
    expect_refused(good_but("chip: v5p", "chip: {base: v5e, pod: 4x4x4}"),
                   "s.yaml:1:35: hardware.chip.pod: 4x4x4 has more than the 2 axes of v5e "
                   "(modified); write a shape such as 4x4");
}

TEST_F(BadInput, HostsThatDoNotDivideThePod) {
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, host: 3x1x1}"),
                   "s.yaml:1:36: hardware.chip.host: a host of 3x1x1 chips does not divide the pod "
                   "16x20x28; every length divides one of the pod's; nearest: 4x1x1");
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, pod: 5x5x5}"),
                   "s.yaml:1:35: hardware.chip.pod: a host of 2x2x1 chips does not divide the pod "
                   "5x5x5; every length divides one of the pod's; nearest: 1x1x1");
    // 7 divides 28, on the third axis.
    EXPECT_EQ(
        podsim({"run", write(good_but("chip: v5p", "chip: {base: v5p, host: 7x1x1}"))}).status, 0);
}

TEST_F(BadInput, APriceWithoutATokenBudget) {
    expect_refused(std::string(kGood) + "report: {price: 4.20 USD/chip-hour}\n",
                   "s.yaml:5:17: report.price: a price needs a token budget; write tokens beside "
                   "it, such as tokens: 15T");
}

TEST_F(BadInput, HuggingFaceConfigs) {
    write("{\"model_type\": \"lama\"}", "config.json");
    expect_refused(good_but("llama-3-8b", "{hf_config: config.json}"),
                   "config.json:1:2: model_type 'lama' is not modelled; did you mean 'llama'? "
                   "`podsim import hf --help` lists the 61 families that podsim reads");
}

TEST_F(BadInput, AMeshThatDoesNotMultiplyToTheChips) {
    expect_refused(good_but("x y z", "x y"),
                   "s.yaml:4:7: mesh: factor 'z' of axis z (length 4) is unused: the mesh spans 16 "
                   "of the 64 chips of slice 4x4x4; add 'z' to a logical axis");
    expect_refused(good_but("fsdp: x y z", "fsdp: 32, tensor: 4"),
                   "s.yaml:4:7: mesh: the mesh fsdp 32 x tensor 4 has 128 members, but slice 4x4x4 "
                   "has 64 chips; change one size: fsdp 16 or tensor 2");
    expect_refused(
        good_but("fsdp: x y z", "fsdp: 16, tensor: z%4"),
        "s.yaml:4:14: mesh.fsdp: the size 16 beside axes with factors; write factors for "
        "every axis, or sizes for every axis");
}

TEST_F(BadInput, UnknownNames) {
    expect_refused(
        good_but("v5p", "v5"),
        "s.yaml:1:18: hardware.chip: unknown chip 'v5'; did you mean 'v5p'? allowed: v2, "
        "v3, v4p, v5p, v5e, v6e, tpu7x");
    expect_refused(good_but("slice:", "latency: flor, slice:"),
                   "s.yaml:1:32: unknown hardware.latency 'flor'; did you mean 'floor'? allowed: "
                   "additive, floor");
}

TEST_F(BadInput, SeveralSlices) {
    expect_refused(good_but("slice:", "slices: 2, slice:"),
                   "s.yaml:4:7: mesh: factor 'slice' of axis slice (length 2) is unused: the mesh "
                   "spans 64 of the 128 chips of 2 slices of 4x4x4; add 'slice' to a logical axis");
    expect_refused(good_but("slice:", "slices: 0, slice:"),
                   "s.yaml:1:31: hardware.slices: '0' is out of range; allowed: 1 to 4096");
    expect_refused(good_but("slice:", "slices: 2000, slice:"),
                   "s.yaml:1:31: hardware.slices: 2000 slices have 128000 chips; at most 100000 "
                   "are allowed");
    expect_refused(
        good_but("slice:", "oversubscription: 0.5, slice:"),
        "s.yaml:1:41: hardware.oversubscription: '0.5' is below 1; write a ratio of 1 or "
        "more such as 2 or 1.5x; units: x");
}

TEST_F(BadInput, FilesOfOthers) {
    expect_refused("base_emb_dim: 4096\nmodel_name: llama3-8b\n",
                   "s.yaml: a file of MaxText, not a scenario; podsim import maxtext writes one of "
                   "it");
    expect_refused("model_type: llama\nhidden_size: 4096\n",
                   "s.yaml: a Hugging Face config, not a scenario; name it as model: {hf_config: "
                   "FILE}; podsim import hf reads it");
}

// An unknown kind has no known requirements.
TEST_F(BadInput, AnUnknownKindOfInferenceStep) {
    expect_refused(
        "hardware: {chip: v5e, slice: 4x4}\nmodel: llama-3-8b\nmesh: {tensor: 16}\n"
        "inference: {step: prefil, prompt: 2048, batch: 4}\n",
        "s.yaml:4:19: unknown inference.step 'prefil'; did you mean 'prefill'? allowed: prefill, "
        "decode, generate");
}

TEST_F(BadInput, UnknownProfiles) {
    expect_refused(good_but("slice:", "profile: perfect, slice:"),
                   "s.yaml:1:32: hardware.profile: unknown profile 'perfect'; allowed: ideal, "
                   "measured, a file that ends in .yaml");
}

TEST_F(BadInput, MissingValuesAreNotDefaults) {
    expect_refused(good_but("model: llama-3-8b\n", ""),
                   "s.yaml:1:1: missing key 'model'; write model: llama-3-70b (a model of `podsim "
                   "list models`, or a map of hyperparameters)");
    expect_refused(good_but("llama-3-8b", ""),
                   "s.yaml:2:1: 'model' holds nothing; write model: llama-3-70b");
    expect_refused(good_but("slice: 4x4x4", "slice: [4, 4, 4]"),
                   "s.yaml:1:30: 'hardware.slice' holds a list; write slice: 16x20x28");
}

TEST_F(BadInput, ModelFieldsOutOfRange) {
    expect_refused(good_but("llama-3-8b", "{base: llama-3-8b, layers: 0}"),
                   "s.yaml:2:35: layers = 0 is out of range; allowed are 1 to 4096");
    expect_refused(good_but("llama-3-8b", "{base: llama-3-8b, kv_heads: 7}"),
                   "s.yaml:2:37: kv_heads = 7 does not divide heads = 32; every key/value head "
                   "serves the same number of query heads");
    expect_refused(good_but("llama-3-8b", "{base: llama-3-8b, experts: {count: 8, per_token: 9}}"),
                   "s.yaml:2:58: experts.per_token = 9 is out of range; allowed are 1 to 8");
    expect_refused(
        good_but("llama-3-8b", "{base: llama-3-8b, experts: {count: 8}}"),
        "s.yaml:2:36: missing key 'model.experts.per_token'; write per_token: 2 (routed experts "
        "that a token takes)");
    expect_refused(
        good_but("llama-3-8b", "{base: llama-3-8b, latent: {kv_rank: 8}}"),
        "s.yaml:2:8: kv_heads = 8 beside latent attention; every head has keys and values of "
        "its own: leave kv_heads out, or write 32");
    expect_refused(good_but("llama-3-8b", "{base: llama-3-8b, norm: batch}"),
                   "s.yaml:2:33: unknown model.norm 'batch'; allowed: rms, layer, bare");
    expect_refused(good_but("llama-3-8b", "{hf_config: a.json, layers: 3}"),
                   "s.yaml:2:20: model.hf_config: cannot read 'a.json': No such file or directory; "
                   "hf_config names a model's config.json, from this scenario's folder");
    expect_refused(good_but("llama-3-8b", "{hf_config: a.json, base: llama-3-8b}"),
                   "s.yaml:2:20: model.hf_config: beside base; keep one of the two");
    expect_refused(
        good_but("llama-3-8b", "{base: llama-3-8b, chunk: 1024}"),
        "s.yaml:3:34: sequence = 4096, but llama-3-8b (modified) attends within chunks of "
        "1024 tokens; attention across chunks is not modelled: take shorter sequences");
}

TEST_F(BadInput, FurtherTokensWhereTheyAreNotModelled) {
    const auto further = [](const std::string& tokens) {
        return good_but("llama-3-8b", "{base: llama-3-8b, mtp_layers: " + tokens + "}");
    };
    expect_refused(further("9"), "s.yaml:2:39: mtp_layers = 9 is out of range; allowed are 0 to 8");
    std::string pipeline = further("1");
    pipeline.replace(pipeline.find("fsdp: x y z"), 11, "fsdp: x y, pipeline: z");
    expect_refused(pipeline + "training: {microbatches: 4}\n",
                   "s.yaml:2:39: mtp_layers = 1 in a pipeline of 4 stages; the last stage would "
                   "need the first one's table, which is not modelled");
    std::string transposed = further("1");
    transposed.replace(transposed.find("fsdp: x y z"), 11,
                       "fsdp: x, tensor: y, tensor_transpose: z");
    expect_refused(transposed,
                   "s.yaml:2:39: mtp_layers = 1 beside mesh.tensor_transpose; their projection "
                   "over it is not modelled");
    expect_refused(
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "model: {base: llama-3-8b, mtp_layers: 1}\n"
        "mesh: {data: x y z}\n"
        "inference: {step: prefill, prompt: 1024, batch: 64}\n",
        "s.yaml:2:39: mtp_layers = 1 in inference; layers of further tokens are those "
        "of training: leave it out");
}

}  // namespace
}  // namespace podsim::scenarios
