// The time at which a MaxText run reduces the gradients of gradient_accumulation_steps.
//
// Its scan over microbatches adds up gradients that are sharded like the parameters. Automatic
// sharding (shard_mode: auto) therefore reduces them over data where they are made. With
// scan_layers that is inside the loop of layers, where the AllReduce stays. With layers one by one
// it is in the scan itself, from which XLA moves it out (scenario/load_plan.cpp has the pass). With
// shard_mode: explicit they are marked as unreduced, in the scan from 2025-10 to 2026-05 and behind
// it since then. With a pipeline the scan is around its loop.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/utils/gradient_accumulation.py, and its
// history since 38472b175.
#include <sstream>
#include <string>

#include "scenarios/src/import/maxtext_import.h"

namespace podsim::scenarios {
namespace {

/// True if the flags of XLA, which are otherwise not read, disable the pass.
bool pass_is_disabled(MaxTextSettings& settings) {
    for (const char* const key : {"compile_xla_flags", "LIBTPU_INIT_ARGS"}) {
        if (!settings.has(key)) {
            continue;
        }
        std::istringstream flags(settings.text(key, ""));
        for (std::string flag; flags >> flag;) {
            if (flag.starts_with("--xla_disable_hlo_passes=") &&
                flag.find("while-loop-all-reduce-code-motion") != std::string::npos) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::string maxtext_reduction(MaxTextSettings& settings, const MaxTextBatch& batch,
                              const MaxTextMesh& mesh, std::vector<std::string>& notes) {
    const std::string key = "shard_mode";
    const std::string mode = settings.has(key) ? settings.text(key, "auto") : "auto";
    if (mode != "auto" && mode != "explicit") {
        settings.refuse(key, "unknown mode '" + mode + "'", "allowed: auto, explicit");
    }
    if (batch.steps == 1 || !mesh.data) {
        return {};
    }
    const bool marked = mode == "explicit";
    if (mesh.stages > 1) {
        if (!marked) {
            notes.emplace_back(
                "MaxText reduces gradients over data behind each pass through the pipeline, "
                "podsim once");
        }
        return {};
    }
    const bool loop = settings.flag("scan_layers", true);
    const bool each = !marked && (loop || pass_is_disabled(settings));
    notes.emplace_back(
        each ? "gradients are reduced over data in each of gradient_accumulation_steps, as "
               "automatic sharding does it"
             : std::string("gradients are reduced over data once, behind the last of "
                           "gradient_accumulation_steps: ") +
                   (marked ? "shard_mode=explicit marks them as unreduced"
                           : "XLA moves the AllReduce of layers one by one behind the loop"));
    return each ? "gradient_reduction: each" : "gradient_reduction: data_once";
}

}  // namespace podsim::scenarios
