// The computation of a MaxText run: precision, remat, kernels.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_attention.h"
#include "scenarios/src/import/maxtext_experts.h"
#include "scenarios/src/import/maxtext_import.h"
#include "sim/base/nearest.h"
#include "workloads/plan/remat.h"

namespace podsim::scenarios {
namespace {

using Parts = std::vector<std::string>;

/// Returns the value of a key of the policy custom: remat, device or offload.
std::string place_of(MaxTextSettings& settings, const std::string& key,
                     const char* fallback = "remat") {
    std::string place = settings.text(key, fallback);
    if (place != "remat" && place != "device" && place != "offload") {
        settings.refuse(key, fmt::format("unknown place {}", in_quotes(place)),
                        "allowed: remat, device, offload");
    }
    return place;
}

/// Returns the joint value for tensors of several keys. If the values differ, the tensors are
/// computed again.
std::string joint_place(MaxTextSettings& settings, std::initializer_list<const char*> keys,
                        Parts& notes) {
    std::vector<std::string> places;
    for (const char* key : keys) {
        places.push_back(place_of(settings, key));
    }
    if (std::ranges::count(places, places.front()) == static_cast<std::ptrdiff_t>(places.size())) {
        return places.front();
    }
    for (const char* key : keys) {
        if (place_of(settings, key) != "remat") {
            settings.cannot(key, "podsim keeps all of them or none: they are computed again");
        }
    }
    notes.push_back(fmt::format("{} go to different places, and are computed again here",
                                fmt::join(keys, ", ")));
    return "remat";
}

/// Returns the value for a tensor with another name in layers of experts: it is kept if either key
/// keeps it.
std::string place_of_either(MaxTextSettings& settings, const std::string& key, bool experts) {
    const std::string place = place_of(settings, key);
    const std::string other = experts && settings.has("moe_" + key) ? "moe_" + key : key;
    return place == "remat" ? place_of(settings, other) : place;
}

/// Returns the value for queries, keys and values. All three also have names behind a fused
/// projection.
std::string place_of_qkv(MaxTextSettings& settings, Parts& notes) {
    std::string apart = joint_place(settings, {"query_proj", "key_proj", "value_proj"}, notes);
    if (settings.has("fused_qkv") && settings.flag("fused_qkv", false)) {
        const std::string together = place_of(settings, "qkv_proj");
        return together == "remat" ? apart : together;
    }
    if (settings.text("qkv_proj", "remat") != "remat") {
        settings.pass_over("qkv_proj", "a tensor of fused_qkv alone");
    }
    return apart;
}

/// Returns the value for the MLP's first matmul. It is one tensor if the MLP has no gate, or if
/// both are one matmul. For experts the second has only the name moe_mlpwi_1, except with dense
/// matmuls (moe.py).
std::string place_of_first_matmul(MaxTextSettings& settings, const MaxTextModel& model,
                                  Parts& notes) {
    const bool fused = settings.has("fused_mlp") && settings.flag("fused_mlp", false);
    if (!model.gated || fused) {
        return place_of(settings, "mlpwi");
    }
    if (model.experts == 0) {
        return joint_place(settings, {"mlpwi_0", "mlpwi_1"}, notes);
    }
    const bool sparse = maxtext_sparse_matmul(settings);
    std::string first = place_of_either(settings, "mlpwi_0", true);
    const std::string second =
        sparse ? place_of(settings, "moe_mlpwi_1") : place_of_either(settings, "mlpwi_1", true);
    if (first == second) {
        return first;
    }
    for (const char* const key : {"mlpwi_0", "mlpwi_1", "moe_mlpwi_0", "moe_mlpwi_1"}) {
        if (settings.has(key) && place_of(settings, key) != "remat") {
            settings.cannot(key,
                            "podsim keeps both of an expert's first matmuls or none: they are "
                            "computed again");
        }
    }
    return "remat";
}

std::string custom_remat(MaxTextSettings& settings, const MaxTextModel& model, Parts& notes) {
    Parts save;
    Parts offload;
    const auto put = [&](const std::string& name, const std::string& place) {
        if (place == "offload") {
            offload.push_back(name);
        } else if (place == "device" && name != "decoder_layer_input") {  // kept by default
            save.push_back(name);
        }
    };
    put("decoder_layer_input", place_of(settings, "decoder_layer_input", "device"));
    if (maxtext_dot_product(settings)) {
        put("attention_out", place_of(settings, "attention_out"));
        if (settings.has("context")) {
            settings.pass_over("context", "residuals of flash kernels");
        }
    } else {
        put("context", place_of(settings, "context"));
    }
    put("out_proj", place_of(settings, "out_proj"));
    put("mlp_out", place_of_either(settings, "mlpwo", model.experts > 0));
    put("qkv_proj", place_of_qkv(settings, notes));
    put("mlp_gate_up", place_of_first_matmul(settings, model, notes));
    // The kernel's output under another name. Its residuals, without which the kernel runs again,
    // are `context`.
    const std::string left = place_of(settings, "attention_out");
    if (!maxtext_dot_product(settings) && left != "remat" &&
        left != place_of(settings, "context")) {
        settings.cannot("attention_out",
                        "without the kernel's residuals (context) attention runs again all the "
                        "same; the memory that it keeps is not counted");
    }
    for (const char* const key : {"mla_q", "mla_kv", "query_wa_proj", "kv_wa_proj", "kv_proj"}) {
        if (settings.has(key) && place_of(settings, key) != "remat") {
            if (model.latent) {
                settings.cannot(key,
                                "podsim keeps all of latent attention's projections "
                                "(query_proj, key_proj and value_proj) or none");
            } else {
                settings.pass_over(key, "the model has no such tensor");
            }
        }
    }
    Parts lists;
    for (const auto& [key, names] : {std::pair("save", &save), {"offload", &offload}}) {
        if (!names->empty()) {
            lists.push_back(fmt::format("{}: [{}]", key, fmt::join(*names, ", ")));
        }
    }
    return lists.empty() ? "full" : fmt::format("{{{}}}", fmt::join(lists, ", "));
}

std::string remat(MaxTextSettings& settings, const MaxTextModel& model, Parts& notes) {
    std::string policy = settings.text("remat_policy", "full");
    if (policy == "custom") {
        return custom_remat(settings, model, notes);
    }
    if (policy == "none") {
        // Layers are still wrapped, in jax.checkpoint without a policy, which saves nothing.
        if (!settings.flag("scan_layers", true)) {
            settings.cannot("remat_policy",
                            "layers apart: MaxText recomputes all of them in its linen decoder and "
                            "nothing in its nnx decoder, here all");
        }
        return "full";
    }
    std::vector<std::string> names{"custom", "none"};
    for (const auto& [name, unused] : workloads::remat_policies()) {
        if (name == "matmuls" || name == "block" || name == "none") {
            continue;  // podsim's own
        }
        if (name == policy) {
            if (policy.starts_with("minimal") && model.experts > 0 && model.gated &&
                maxtext_sparse_matmul(settings)) {
                settings.cannot("remat_policy",
                                "it keeps one of an expert's two first matmuls in MaxText "
                                "(mlpwi_0, not moe_mlpwi_1), here both");
            }
            return maxtext_dot_product(settings) ? maxtext_without_context(policy, notes) : policy;
        }
        names.emplace_back(name);
    }
    settings.refuse("remat_policy", fmt::format("unknown policy {}", in_quotes(policy)),
                    fmt::format("allowed: {}", fmt::join(names, ", ")));
}

/// Adds the scaling. Only Qwix's rule of fp8_full has methods, for weights, activations and
/// gradients (quantizations.py, get_fp8_full_qwix_rule_w_sparsity); other rules, AQT and flax
/// compute scales. Weights with fixed scales are quantised before they are gathered (moe.py).
void add_scaling(MaxTextSettings& settings, const std::string& quantization, Parts& parts,
                 Parts& notes) {
    const auto key = [](const char* what) {
        return fmt::format("{}_quantization_calibration_method", what);
    };
    if (quantization != "fp8_full") {
        for (const char* const what : {"weight", "act", "bwd"}) {
            if (settings.has(key(what))) {
                settings.pass_over(key(what), "read with quantization=fp8_full alone");
            }
        }
        return;
    }
    const auto fixed = [&](const char* what) {
        return lower_case(settings.text(key(what), "absmax")).starts_with("fixed");
    };
    const bool weights = fixed("weight");
    const bool activations = fixed("act");
    const bool gradients = fixed("bwd");
    if (weights && activations) {
        parts.emplace_back("scaling: fixed");
        if (!gradients) {
            notes.emplace_back(
                "scales of gradients are fixed here, as those of weights and activations are: "
                "podsim has one scaling");
        }
        return;
    }
    if (weights) {
        parts.emplace_back("quantized_gather: true");
        notes.emplace_back(
            "weights of fixed scales are quantised before they are gathered, but read once more "
            "for their magnitudes, as activations are: podsim has one scaling, here dynamic");
    }
    for (const auto& [what, is_fixed] : {std::pair("act", activations), {"bwd", gradients}}) {
        if (is_fixed) {
            settings.cannot(key(what), "podsim has one scaling, and others are dynamic: all are");
        }
    }
}

void add_precision(MaxTextSettings& settings, Parts& parts, Parts& notes) {
    const auto stored = [&](const std::string& key, const std::string& fallback) -> std::string {
        const std::string type = settings.text(key, fallback);
        if (type != "float32" && type != "bfloat16") {
            settings.refuse(key, fmt::format("{} is not modelled", in_quotes(type)),
                            "allowed: float32, bfloat16");
        }
        return type == "float32" ? "fp32" : "bf16";
    };
    const std::string weights = stored("weight_dtype", "float32");
    parts.push_back(fmt::format("parameters: {}", weights));
    // Moments of optax have the dtype of the weights; mu_dtype may set another for the first one
    // (optimizers.py).
    const std::string optimizer = settings.text("opt_type", "adamw");
    const bool other = !settings.text("mu_dtype", "").empty();
    const bool taken = optimizer != "adam_pax" && optimizer != "sgd";
    if (other && !taken) {
        settings.pass_over("mu_dtype", fmt::format("{} does not take it", optimizer));
    }
    const std::string first = other && taken ? stored("mu_dtype", "") : weights;
    if (first != weights) {
        parts.push_back(fmt::format("moments: [{}, {}]", first, weights));
    } else if (weights == "bf16" && optimizer != "sgd") {
        parts.emplace_back("moments: bf16");
    }
    const std::string gradients = settings.text("grad_dtype", "float32");
    if (weights == "bf16" && settings.has("grad_dtype")) {
        settings.pass_over("grad_dtype", "gradients of bfloat16 weights are bfloat16");
    } else if (gradients != "bfloat16" && settings.own("grad_dtype")) {
        settings.cannot("grad_dtype", "gradients are bf16 here, as reduced and as stored");
    }
    std::string quantization = settings.text("quantization", "");
    if (const std::string small = lower_case(quantization); small == "none" || small == "null") {
        quantization.clear();  // pyconfig.py, _prepare_for_pydantic
    }
    if (quantization == "fp8" && settings.whole("gradient_accumulation_steps", 1, 1) > 1) {
        settings.refuse("quantization",
                        "fp8 beside gradient_accumulation_steps, which MaxText refuses",
                        "write fp8_full, or accumulate nothing");
    }
    if (quantization == "int8" || quantization == "fp8" || quantization == "fp8_full") {
        parts.push_back(
            fmt::format("precision: {}", quantization.substr(0, quantization.find('_'))));
        add_scaling(settings, quantization, parts, notes);
    } else if (!quantization.empty()) {
        settings.refuse("quantization", fmt::format("{} is not modelled", in_quotes(quantization)),
                        "allowed: int8, fp8, fp8_full, or nothing");
    }
}

}  // namespace

std::string maxtext_training(MaxTextSettings& settings, const MaxTextMachine& machine,
                             const MaxTextModel& model, const MaxTextBatch& batch,
                             const MaxTextMesh& mesh, Parts& notes) {
    const Parts pieces = maxtext_microbatches(settings, batch, model, mesh.stages, notes);
    Parts parts;
    add_precision(settings, parts, notes);
    parts.push_back("remat: " + remat(settings, model, notes));
    for (std::string& part : maxtext_attention(settings, notes)) {
        parts.push_back(std::move(part));
    }
    if (model.experts > 0) {
        for (std::string& part : maxtext_experts(settings, machine, model, batch, mesh, notes)) {
            parts.push_back(std::move(part));
        }
    }
    if (!settings.has("logits_dot_in_fp32")) {
        notes.emplace_back("the file is older than logits_dot_in_fp32, when logits were fp32");
    }
    if (settings.flag("logits_dot_in_fp32", true)) {
        parts.emplace_back("logits: fp32");
    }
    if (const std::int64_t chunks = settings.whole("num_vocab_tiling", 1, 1); chunks > 1) {
        parts.push_back(fmt::format("logit_chunks: {}", chunks));
    }
    if (settings.number("gradient_clipping_threshold", 0) > 0) {
        parts.emplace_back("clip_gradients: true");
    }
    const std::string optimizer = settings.text("opt_type", "adamw");
    if (optimizer == "sgd") {
        parts.emplace_back("optimizer: sgd");
    } else if (optimizer != "adamw" && optimizer != "adam_pax") {
        settings.cannot("opt_type", "podsim has adamw and sgd: adam here");
    }
    if (settings.has("shard_optimizer_over_data") &&
        settings.flag("shard_optimizer_over_data", false) && mesh.data) {
        parts.emplace_back("zero: 1");
    }
    parts.insert(parts.end(), pieces.begin(), pieces.end());
    if (std::string when = maxtext_reduction(settings, batch, mesh, notes); !when.empty()) {
        parts.push_back(std::move(when));
    }
    const bool loop = settings.flag("scan_layers", true);
    return fmt::format("training: {{{}}}\noverlap: {{weights: block{}}}\n", fmt::join(parts, ", "),
                       loop ? ", layers: loop" : "");
}

}  // namespace podsim::scenarios
