#include "scenarios/src/import/maxtext_import.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <string_view>

#include "scenarios/src/import/maxtext_defaults.h"
#include "scenarios/src/import/maxtext_inference.h"
#include "scenarios/src/import/maxtext_keys.h"
#include "scenarios/src/import/maxtext_settings.h"
#include "topology/chips/core_clocks.h"

namespace podsim::scenarios {
namespace {

/// A key, and the value that changes nothing, which is MaxText's default.
struct Unlike {
    std::string_view key;
    std::string_view usual;
    const char* why;
};

constexpr const char* kLocal = "local layers have the attention kernel of the others here";

constexpr std::array kUnlike = std::to_array<Unlike>({
    {"dtype", "bfloat16", "podsim computes in bf16, or in what quantization says"},
    {"matmul_precision", "default", "matmuls of bf16 have one pass here"},
    {"activations_in_float32", "false", "activations are bf16 here"},
    {"float32_qk_product", "false", "attention is computed in bf16 here"},
    {"attention_type", "global", "attention is what the model's own block says"},
    {"sliding_window_size", "0", "attention is what the model's own block says"},
    {"chunk_attn_window_size", "0", "attention is what the model's own block says"},
    {"share_kv_projections", "false", "keys and values are what the model's own block says"},
    {"use_dpo", "false", "a second forward pass of a reference model is not modelled"},
    {"enable_diloco", "false", "every step reduces its gradients over all slices here"},
    {"use_multimodal", "false", "encoders are not modelled"},
    {"use_audio", "false", "encoders are not modelled"},
    {"use_indexer", "false", "sparse attention with an index is not modelled"},
    {"optimizer_memory_host_offload", "false", "the optimizer's state stays in HBM here"},
    {"parameter_memory_host_offload", "false", "parameters stay in HBM here"},
    {"use_2d_fsdp_sharding", "false", "weights are split along one dimension here"},
    {"shard_exp_on_fsdp", "false", "weights of experts are split along one dimension here"},
    {"moe_fsdp_use_two_stage_all_gather", "false", "weights are gathered at once here"},
    {"dense_fsdp_use_two_stage_all_gather", "false", "weights are gathered at once here"},
    {"use_ring_of_experts", "false", "tokens go to experts by an AllToAll here"},
    {"num_moe_token_chunks", "1", "tokens of experts are not taken in chunks here"},
    {"num_moe_emb_chunks", "0", "tokens of experts are not taken in chunks here"},
    {"use_batch_split_schedule", "false", "a batch is not split within a layer here"},
    {"optimize_mesh_for_tpu_v6e", "false", "podsim maps as create_device_mesh does"},
    {"custom_mesh_and_rule", "", "arrays are split by MaxText's usual rules here"},
    {"context_parallel_strategy", "all_gather", "keys and values are gathered here"},
    {"context_parallel_load_balance", "true", "sequences are split in zig-zag here"},
    {"pipeline_fsdp_ag_once", "false", "stages gather weights for each microbatch here"},
    {"pipeline_fsdp_ag_per_repeat", "false", "stages gather weights for each microbatch here"},
    {"vocab_tiling_ag_once", "false", "the unembedding is gathered for each chunk here"},
    {"enable_rampup_batch_size", "false", "the batch is that of per_device_batch_size"},
    {"use_iota_embed", "false",
     "the look-up as a matmul of 2 V D FLOPs a token each way: podsim times a look-up"},
    {"use_jax_splash", "false", "JAX's own splash attention: podsim times the kernel of MaxText"},
    {"dq_reduction_steps", "0", "how the fused backward kernel adds up dq is not modelled"},
    {"num_communication_overlapping_steps", "0",
     "every step reduces its gradients over all slices here"},
    {"dropout_rate", "0.0", "dropout is not modelled"},
    {"int8_training", "false", "podsim reads quantization=int8 alone"},
    {"local_sa_block_q", "", kLocal},
    {"local_sa_block_kv", "", kLocal},
    {"local_sa_block_q_dkv", "", kLocal},
    {"local_sa_block_kv_dkv", "", kLocal},
    {"local_sa_block_q_dq", "", kLocal},
    {"local_sa_block_kv_dq", "", kLocal},
    {"local_sa_use_fused_bwd_kernel", "", kLocal},
});

constexpr const char* kUsual = "its usual value";

/// Returns the value that changes nothing. Gemma 4's own config sets share_kv_projections, for
/// global layers (configs/models/gemma4-31b.yml).
std::string_view usual_of(const Unlike& each, const MaxTextSettings& settings) {
    const bool own = each.key == "share_kv_projections" && settings.has("model_name") &&
                     settings.said("model_name").starts_with("gemma4") &&
                     settings.overridden(std::string(each.key));
    return own ? "true" : each.usual;
}

/// True if the value changes nothing. A key of local layers may equal that of the others, or be
/// unset (types.py: it is then that of the others).
bool is_usual(const Unlike& each, const MaxTextSettings& settings) {
    const std::string said = settings.said(std::string(each.key));
    if (says_the_same(said, usual_of(each, settings)) || says_the_same(said, "")) {
        return true;
    }
    constexpr std::string_view kOfLocal = "local_";
    const std::string others(each.key.substr(each.key.starts_with(kOfLocal) ? kOfLocal.size() : 0));
    return others != each.key && settings.has(others) && says_the_same(said, settings.said(others));
}

// Keys of MaxText that change a step and have no counterpart in a scenario.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml and types.py.

/// Marks keys as not expressed that would change the step and have no counterpart. These are keys
/// with another value than the one that changes nothing. They are also keys of the command line, or
/// with another value than MaxText's own file, that nothing has read and whose effect podsim does
/// not know. Call it after all other keys have been read.
void maxtext_not_modelled(MaxTextSettings& settings) {
    for (const Unlike& each : kUnlike) {
        const std::string key(each.key);
        if (!settings.has(key)) {
            continue;
        }
        if (is_usual(each, settings)) {
            settings.pass_over(key, kUsual);
        } else {
            settings.cannot(key, std::string(each.why));
        }
    }
    for (const MaxTextSettings::Line& line : settings.ignored()) {
        if (!line.own || !line.why.empty()) {
            continue;
        }
        const auto usual = maxtext_default(line.key);
        if (is_read(line.key)) {
            settings.pass_over(line.key, "nothing goes by it beside what the other keys say");
        } else if (usual && says_the_same(line.value, *usual)) {
            settings.pass_over(line.key, kUsual);
        } else {
            settings.cannot(line.key, "podsim does not know what it does");
        }
    }
}

/// Returns `, core_clock: 1.125` for the last xla_tpu_dvfs_p_state among the flags of XLA, which
/// are otherwise not read (core_clocks.h).
std::string maxtext_core_clock(MaxTextSettings& settings, const MaxTextMachine& machine) {
    std::string state;
    std::string said;
    for (const char* const key : {"compile_xla_flags", "LIBTPU_INIT_ARGS"}) {
        if (!settings.has(key)) {
            continue;
        }
        std::istringstream flags(settings.text(key, ""));
        for (std::string flag; flags >> flag;) {
            const std::string name = "--xla_tpu_dvfs_p_state=";
            if (flag.starts_with(name)) {
                state = flag.substr(name.size());
                said = key;
            }
        }
    }
    if (state.empty()) {
        return {};
    }
    const topology::ChipSpec& chip = topology::find_chip(machine.chip);
    if (chip.clock_ghz.value.empty()) {
        settings.cannot(said, fmt::format("the clock in P-state {} of {} is not known: "
                                          "hardware.core_clock says it",
                                          state, machine.chip));
        return {};
    }
    const bool digit = state.size() == 1 && state.front() >= '0' && state.front() <= '9';
    const auto pace = topology::pace_in_state(chip, digit ? state.front() - '0' : -1);
    if (!pace) {
        settings.cannot(
            said, topology::has_states(chip)
                      ? fmt::format("P-state {}: {} has 0 to {}", state, machine.chip,
                                    chip.clock_ghz.value.size() - 1)
                      : fmt::format("P-state {}: {} has none, its cores run at {:g} GHz", state,
                                    machine.chip, topology::usual_ghz(chip)));
        return {};
    }
    return *pace == 1 ? "" : fmt::format(", core_clock: {:g}", *pace);
}

/// Returns `report: {flop_rule: maxtext}`: the rule by which the version counts its logged
/// TFLOP/s/device. Keys of its base.yml distinguish the versions (step_flops.h). Before
/// 2024-05-09 all parameters counted, and the masked half of attention. A file of a few keys has
/// the newest rule.
std::string maxtext_report(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const bool whole = settings.is_whole();
    const auto older_than = [&](const char* key) { return whole && !settings.has(key); };
    const std::string model = settings.text("model_name", "default");
    // Its block is none of those that count windows.
    const bool of_block = model.starts_with("olmo3");
    const bool gemma3 = model.starts_with("gemma3");  // as was its block until 2025-07-22
    std::string rule = of_block ? "maxtext_unwindowed" : "maxtext";
    if (older_than("ici_pipeline_parallelism")) {  // 2024-06-12
        rule = "masked_attention";
    } else if (older_than("use_qwix_quantization")) {  // 2025-07-31
        rule = of_block || gemma3 ? "maxtext_2024_unwindowed" : "maxtext_2024";
    } else if (older_than("weight_sparsity_m") && !of_block) {  // 2026-04-24
        rule = "maxtext_2025";
    }
    if (rule.ends_with("unwindowed")) {
        notes.push_back(fmt::format(
            "MaxText's TFLOP/s and MFU of this model count attention as if it had no "
            "windows: report.flop_rule {} does so, too; executed counts what they leave",
            rule));
    }
    return fmt::format("report: {{flop_rule: {}}}\n", rule);
}

}  // namespace

bool is_not_modelled(const std::string& key) {
    return std::ranges::count(kUnlike, key, &Unlike::key) > 0;
}

std::string maxtext_defaults_text(const MaxTextSettings& settings) {
    const std::size_t count = settings.taken().size();
    if (settings.is_whole() || count == 0) {
        return {};
    }
    return fmt::format(
        "the file is no whole base.yml: {} key{} that it does not have {} as MaxText of 2023 did "
        "without; those of your base.yml may differ: import that file, or write `base_config: "
        "base.yml` into this one",
        count, count == 1 ? "" : "s", count == 1 ? "is taken" : "are taken");
}

MaxTextImport import_maxtext(MaxTextSettings& settings, const std::string& title) {
    refuse_maxtext_inference(settings);
    MaxTextImport result;
    const MaxTextMachine machine = maxtext_machine(settings);
    result.scenario = fmt::format(
        "name: {}\nhardware: {{chip: {}, slice: {}{}{}}}\n", title, machine.chip, machine.slice,
        machine.slices > 1 ? fmt::format(", slices: {}", machine.slices) : "",
        maxtext_core_clock(settings, machine));
    const MaxTextModel model = maxtext_model(settings, result.notes);
    result.scenario += fmt::format("model: {}\n", model.text);
    const MaxTextBatch batch = maxtext_batch(settings, machine);
    result.scenario += fmt::format("batch: {{tokens: {}, sequence: {}}}\n",
                                   batch.micro * batch.steps * batch.sequence, batch.sequence);
    const MaxTextMesh mesh = maxtext_mesh(settings, machine, model, result.notes);
    result.scenario += mesh.text;
    result.scenario += maxtext_training(settings, machine, model, batch, mesh, result.notes);
    result.scenario += maxtext_report(settings, result.notes);
    maxtext_not_modelled(settings);
    if (const std::string text = maxtext_defaults_text(settings); !text.empty()) {
        result.notes.push_back(text);
    }
    return result;
}

}  // namespace podsim::scenarios
