// Files with a base, missing values, and keys that change nothing or only sound like it.
#include <filesystem>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/yaml_tree.h"
#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using MaxTextBases = MaxText;

// As in MaxText: post_train/sft.yml has `base_config: "base.yml"`, which is one folder above
// (pyconfig.py, _load_config).
TEST_F(MaxTextBases, AFileStandsUponItsBase) {
    std::filesystem::create_directories(path("configs/post_train"));
    write(
        "attention: flash\nper_device_batch_size: 4\nlogits_dot_in_fp32: false\n"
        "compile_topology: v6e-64\nquantization: ''\n",
        "configs/base.yml");
    const std::string file =
        write("base_config: base.yml\nper_device_batch_size: 2\n", "configs/post_train/sft.yml");
    const Outcome outcome = podsim({"import", "maxtext", file, "model_name=llama3.1-8b",
                                    "max_target_length=8192", "quantization=int8"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("batch: {tokens: 1048576, sequence: 8192}\n"));  // 64 x 2
    EXPECT_THAT(outcome.out, HasSubstr("precision: int8"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("attention: full")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("logits: fp32")));
    const Outcome lost = podsim({"import", "maxtext", file, "--write", path("configs/base.yml")});
    EXPECT_EQ(lost.status, 2);
    EXPECT_THAT(plain(lost.err), HasSubstr("the command reads this file, and would overwrite it"));
    EXPECT_EQ(plain(podsim({"import", "maxtext",
                            write("base_config: base.yml\nper_device_batch_size: many\n",
                                  "configs/post_train/bad.yml")})
                        .err)
                  .substr(0, 32),
              "configs/post_train/bad.yml:2:1: ");
    std::filesystem::remove(path("configs/base.yml"));
    const Outcome missing = podsim({"import", "maxtext", file});
    EXPECT_EQ(missing.status, 2);
    EXPECT_EQ(plain(missing.err),
              "configs/post_train/sft.yml:1:14: base_config: there is no 'base.yml' beside the "
              "file or in a folder above it; put MaxText's file there: all that this one does not "
              "say stands in it\n");
    const std::string itself = write("base_config: itself.yml\n", "itself.yml");
    EXPECT_EQ(plain(podsim({"import", "maxtext", itself}).err),
              "itself.yml:1:14: base_config: files that name each other; let one of them have no "
              "base_config\n");
}

// MaxText's command line overrides keys; this key alone names a file, which it does not read.
TEST_F(MaxTextBases, ABaseIsNamedInAFile) {
    refused(
        {"base_config=other.yml"},
        "base_config=other.yml: base_config: MaxText reads that file for a YAML file that names "
        "it, not for its command line; give podsim import maxtext a file that says base_config");
}

// Old defaults are listed key by key among the used values; one line says that a whole model
// depends on them.
TEST_F(MaxTextBases, AFileOfAFewOverridesIsWarnedOf) {
    const std::string few = "per_device_batch_size: 4\nmax_target_length: 4096\n";
    const std::string file = write(few, "few.yml");
    const std::vector<std::string> args{"import", "maxtext", file, "model_name=llama3.1-8b",
                                        "compile_topology=v6e-64"};
    const Outcome outcome = podsim(args);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::size_t taken = 0;
    const std::string each = "(the file does not have the key: what MaxText did without it)\n";
    for (std::size_t at = 0; (at = outcome.out.find(each, at)) != std::string::npos; ++at) {
        ++taken;
    }
    EXPECT_GT(taken, 10U);
    const std::string text =
        "the file is no whole base.yml: " + std::to_string(taken) +
        " keys that it does not have are taken as MaxText of 2023 did without; those of your "
        "base.yml may differ: import that file, or write `base_config: base.yml` into this one\n";
    EXPECT_EQ(outcome.err, "warning: " + text);
    EXPECT_THAT(outcome.out, HasSubstr("# note: " + text));
    // With a base that has all of them there is no warning.
    std::filesystem::copy_file(source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml",
                               path("base.yml"));
    write("base_config: base.yml\n" + few, "few.yml");
    EXPECT_EQ(podsim(args).err, "");
}

// A value of the user's file counts like a key=value: it differs from that of its base, or from
// MaxText's default if that is known.
TEST_F(MaxTextBases, WhatOnesOwnFileSaysIsWarnedOfLikeAnOverride) {
    const auto unknown = [](const std::string& setting) {
        return "warning: " + setting + " is not expressed: podsim does not know what it does\n";
    };
    const std::string base = source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml";
    const std::string whole = read_text_file(base);
    const auto import_text = [&](const std::string& text) {
        return podsim({"import", "maxtext", write(text, "run.yml"), "model_name=llama3.1-8b",
                       "compile_topology=v6e-64"});
    };
    write(whole + "merge_gating_gmm: False\nsome_key: [a, b]\nother_key: 1\nsteps: 10\n",
          "base.yml");
    const Outcome other =
        import_text("base_config: base.yml\nmerge_gating_gmm: true\nsome_key: [a, c]\nsteps: 20\n");
    EXPECT_EQ(other.err, unknown("merge_gating_gmm=true") + unknown("some_key=[a,c]"));
    EXPECT_THAT(other.out, HasSubstr("#   steps = 20: of the run's length\n"));
    EXPECT_EQ(import_text("base_config: base.yml\nmerge_gating_gmm: false\nsome_key: [a, b]\n"
                          "other_key: 1.0\n")
                  .err,
              "");
    // A whole file of the user's: some keys have known defaults.
    EXPECT_EQ(import_text(whole + "merge_gating_gmm: false\nunknown_key: 3\n").err, "");
    EXPECT_EQ(import_text(whole + "merge_gating_gmm: True\nunknown_key: 3\n").err,
              unknown("merge_gating_gmm=True"));
    // In a file of a few keys every value was written by the user.
    const std::string few =
        import_text("per_device_batch_size: 4\nunknown_key: 3\nmerge_gating_gmm: false\n").err;
    EXPECT_THAT(few, HasSubstr("\n" + unknown("unknown_key=3")));
    EXPECT_THAT(few, Not(HasSubstr("merge_gating_gmm")));
    // The usual value changes nothing, as a key=value either.
    EXPECT_THAT(import({"model_name=llama3.1-8b", "use_splash_scheduler=false"}).out,
                HasSubstr("#   use_splash_scheduler = false: its usual value\n"));
}

// MaxText has none of these keys; substrings of their names are keys that change nothing.
TEST_F(MaxTextBases, KeysThatOnlySoundHarmlessAreRefused) {
    for (const char* const key :
         {"grad_accum_steps", "batch_size_per_device_steps", "eval_fsdp_parallelism",
          "ici_fsdp_hardware_parallelism", "trace_batch", "fused_attention"}) {
        const Outcome outcome = import({"model_name=llama3.1-8b", std::string(key) + "=4"});
        EXPECT_EQ(outcome.status, 2) << key;
        EXPECT_THAT(outcome.err, StartsWith(std::string(key) + "=4: MaxText has no key '" + key +
                                            "' in that file; "));
    }
}

TEST_F(MaxTextBases, ValuesMustNotBeEmpty) {
    for (const char* const key :
         {"per_device_batch_size", "gradient_accumulation_steps", "remat_policy"}) {
        refused({std::string(key) + "="},
                std::string(key) + "=: '" + key + "' without a value; give one, or leave it out");
    }
    for (const char* const nothing : {"", "None", "null"}) {
        EXPECT_THAT(
            line({"model_name=llama3.1-8b", std::string("quantization=") + nothing}, "training: "),
            Not(HasSubstr("precision")));
    }
}

// base.yml's rules split `embed` and `activation_batch` over both fsdp and expert.
TEST_F(MaxTextBases, ExpertsOfDenseModelsAreFsdp) {
    EXPECT_EQ(
        line({"model_name=llama3.1-8b", "ici_fsdp_parallelism=64", "ici_expert_parallelism=4"},
             "mesh: "),
        "mesh: {fsdp: 256}");
    EXPECT_EQ(
        line({"model_name=mixtral-8x7b", "ici_fsdp_parallelism=64", "ici_expert_parallelism=4"},
             "mesh: "),
        "mesh: {fsdp: 64, expert: 4}");
}

TEST_F(MaxTextBases, KnownKeysThatNothingGoesByAreNoWarning) {
    const Outcome outcome =
        import({"model_name=llama3.1-8b", "num_pipeline_microbatches=8", "mlpwi_0=device"});
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("#   num_pipeline_microbatches = 8: nothing goes by it "
                                       "beside what the other keys say\n"));
}

TEST_F(MaxTextBases, WhatIsNotAsSaidIsAWarning) {
    EXPECT_EQ(import({"model_name=llama3.1-8b", "num_slices=4"}).err,
              "warning: num_slices=4 is not expressed: the machine has 1 by "
              "compile_topology_num_slices, from which MaxText sets this one\n");
    EXPECT_THAT(import({"model_name=llama3.1-8b", "weight_dtype=bfloat16", "mu_dtype=float32"}).out,
                HasSubstr("moments: [fp32, bf16]"));
    // With adam_pax both moments have the weights' dtype; sgd has no moments.
    const Outcome pax =
        import({"model_name=llama3.1-8b", "opt_type=adam_pax", "mu_dtype=bfloat16"});
    EXPECT_THAT(pax.out, HasSubstr("#   mu_dtype = bfloat16: adam_pax does not take it\n"));
    EXPECT_THAT(pax.out, ::testing::Not(HasSubstr("moments:")));
    const Outcome sgd = import({"model_name=llama3.1-8b", "weight_dtype=bfloat16", "opt_type=sgd"});
    EXPECT_THAT(sgd.out, HasSubstr("optimizer: sgd"));
    EXPECT_THAT(sgd.out, ::testing::Not(HasSubstr("moments:")));
    EXPECT_EQ(sgd.err, "");
    const Outcome outcome = import({"model_name=llama3.1-8b", "quantization=fp8"}, "v4-256");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err,
              "warning: podsim does not run this scenario: training.precision: v4p has no fp8 "
              "matmuls; allowed: bf16, int8\n");
}

}  // namespace
}  // namespace podsim::scenarios
