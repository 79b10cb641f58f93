// Names of keys, and the values for keys that a file does not have.
#include "scenarios/src/import/maxtext_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>

#include "tests/scenarios/import/maxtext_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MaxTextKeys : public MaxText {
protected:
    Outcome import_text(const std::string& text, std::vector<std::string> keys = {}) {
        keys.insert(keys.begin(), {"import", "maxtext", write(text, "base.yml")});
        return podsim(keys);
    }
};

TEST_F(MaxTextKeys, MisspeltOnesOfTheFileAreErrors) {
    const std::string machine = "compile_topology: v5e-256\n";
    const auto refused_key = [&](const std::string& key, const std::string& meant) {
        const Outcome outcome = import_text(machine + key + ": 2\n");
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(plain(outcome.err), "base.yml:2:1: MaxText has no key '" + key +
                                          "'; did you mean '" + meant + "'?\n");
    };
    refused_key("ici_fsdp_paralelism", "ici_fsdp_parallelism");
    refused_key("gradient_acumulation_step", "gradient_accumulation_steps");
    refused_key("weigth_dtype", "weight_dtype");
    // The likely key is present, so this may be another one, of a newer MaxText.
    const Outcome both = import_text(machine + "remat_polici: 1\nremat_policy: full\n");
    EXPECT_EQ(both.status, 0);
    EXPECT_THAT(both.err, HasSubstr("remat_polici=1 is not expressed: podsim does not know it; "
                                    "remat_policy stands there, too\n"));
    // If only the base has the likely key, this one is a misspelling.
    write("compile_topology: v5e-256\nper_device_batch_size: 2\n", "base.yml");
    const std::string upon = write("base_config: base.yml\nper_device_batch_sise: 4\n", "run.yml");
    EXPECT_EQ(plain(podsim({"import", "maxtext", upon}).err),
              "run.yml:2:1: MaxText has no key 'per_device_batch_sise'; did you mean "
              "'per_device_batch_size'?\n");
    // The same beside the file's own key: MaxText would refuse it.
    refused({"model_name=llama3.1-8b", "weigth_dtype=bfloat16"},
            "weigth_dtype=bfloat16: MaxText has no key 'weigth_dtype' in that file; did you mean "
            "'weight_dtype'?");
}

TEST_F(MaxTextKeys, OthersOfMaxTextAreNotTakenForMisspeltOnes) {
    for (const char* const key : {"kv_proj", "mscale", "rope_type", "v_head_dim", "dtype", "steps",
                                  "ici_context_usp_ulysses_parallelism", "attention_out"}) {
        EXPECT_EQ(meant_by(key), "") << key;
    }
    EXPECT_EQ(meant_by("head_dims"), "head_dim");
    EXPECT_EQ(meant_by("kead_din"), "head_dim");
    EXPECT_EQ(meant_by("kead_dni"), "");
}

// The clock's state is read from XLA's flags, at the last position that sets it.
TEST_F(MaxTextKeys, FlagsOfXlaSayTheClock) {
    const auto hardware = [this](std::vector<std::string> keys) {
        keys.emplace_back("model_name=llama3.1-8b");
        return line(keys, "hardware", "tpu7x-128");
    };
    const std::string flags = "LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=65472 ";
    const std::string plain_one = "hardware: {chip: tpu7x, slice: 4x4x4}";
    EXPECT_EQ(hardware({flags}), plain_one);
    EXPECT_EQ(hardware({flags + "--xla_tpu_dvfs_p_state=3"}), plain_one);
    // 1.6 to 2.2 GHz, relative to 1.9: 1.6 / 1.9 = 0.842, ...; state 7 as measured.
    const std::map<int, std::string> paces{{0, "0.842"}, {1, "0.895"}, {2, "0.947"}, {4, "1.053"},
                                           {5, "1.079"}, {6, "1.105"}, {7, "1.125"}};
    for (const auto& [state, pace] : paces) {
        EXPECT_EQ(hardware({fmt::format("{}--xla_tpu_dvfs_p_state={}", flags, state)}),
                  "hardware: {chip: tpu7x, slice: 4x4x4, core_clock: " + pace + "}");
    }
    EXPECT_EQ(hardware({"compile_xla_flags=--xla_tpu_dvfs_p_state=7"}),
              "hardware: {chip: tpu7x, slice: 4x4x4, core_clock: 1.125}");
    EXPECT_EQ(hardware({flags + "--xla_tpu_dvfs_p_state=3",
                        "compile_xla_flags=--xla_tpu_dvfs_p_state=7"}),
              plain_one);
    const auto warning = [&](const std::string& state, const std::string& machine) {
        return import({flags + "--xla_tpu_dvfs_p_state=" + state, "model_name=llama3.1-8b"},
                      machine)
            .err;
    };
    EXPECT_THAT(warning("8", "tpu7x-128"),
                HasSubstr("is not expressed: P-state 8: tpu7x has 0 to 7\n"));
    EXPECT_THAT(warning("10", "tpu7x-128"), HasSubstr("P-state 10: tpu7x has 0 to 7\n"));
    EXPECT_THAT(warning("fast", "tpu7x-128"), HasSubstr("P-state fast: tpu7x has 0 to 7\n"));
    EXPECT_THAT(warning("7", "v5p-128"),
                HasSubstr("P-state 7: v5p has none, its cores run at 1.75 GHz\n"));
    EXPECT_THAT(warning("7", "v6e-64"), HasSubstr("v6e has none, its cores run at 1.75 GHz\n"));
    EXPECT_THAT(warning("7", "v5e-64"), HasSubstr("v5e has none, its cores run at 1.5 GHz\n"));
    EXPECT_THAT(warning("7", "v4-128"), HasSubstr("the clock in P-state 7 of v4p is not known: "
                                                  "hardware.core_clock says it\n"));
}

TEST_F(MaxTextKeys, OtherFilesAreNamed) {
    EXPECT_THAT(
        import_text("hardware: {chip: v5p, slice: 4x4x4}\nmodel: llama-3-8b\n", {}).err,
        HasSubstr(":1:1: a scenario of podsim, not a file of MaxText; podsim run takes it\n"));
    EXPECT_THAT(
        import_text("model_type: llama\nhidden_size: 8\n", {}).err,
        HasSubstr(":1:1: a Hugging Face config, not a file of MaxText; podsim import hf takes "
                  "it\n"));
}

TEST_F(MaxTextKeys, WhatIsTakenWithoutThemIsSaid) {
    const Outcome outcome =
        import_text("model_name: llama2-7b\nremat_policy: minimal\n", {"compile_topology=v5e-256"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("#   remat_policy = minimal (of the file)\n"));
    for (const char* const taken :
         {"per_device_batch_size = 12", "max_target_length = 2048", "weight_dtype = float32",
          "ici_fsdp_parallelism = -1", "attention = dot_product"}) {
        EXPECT_THAT(outcome.out,
                    HasSubstr(std::string("#   ") + taken +
                              " (the file does not have the key: what MaxText did without it)\n"));
    }
    // A parallelism of one has no consequences.
    EXPECT_THAT(outcome.out, Not(HasSubstr("ici_tensor_parallelism")));
    const auto json = nlohmann::json::parse(
        import_text("model_name: llama2-7b\n", {"compile_topology=v5e-256", "--json", "-"}).out);
    const auto defaults = json["defaults"];
    EXPECT_EQ(
        defaults[0],
        (nlohmann::json{{"key", "attention"}, {"value", "dot_product"}, {"overridden", false}}));
    EXPECT_EQ(
        nlohmann::json::parse(import({"model_name=llama2-7b", "--json", "-"}).out)["defaults"],
        nlohmann::json::array());
}

// MaxText's base.yml of 2026 has 661 keys; a scenario may have 256.
TEST_F(MaxTextKeys, AFileMayHaveAsManyAsMaxTextHas) {
    std::string text = "model_name: llama2-7b\ncompile_topology: v5e-256\n";
    for (int i = 0; i < 1000; ++i) {
        text += "some_key_" + std::to_string(i) + ": 1\n";
    }
    EXPECT_EQ(import_text(text).status, 0);
    EXPECT_THAT(plain(podsim({"run", write(text, "s.yaml")}).err),
                HasSubstr("s.yaml:257:1: a map has more than 256 keys"));
}

}  // namespace
}  // namespace podsim::scenarios
