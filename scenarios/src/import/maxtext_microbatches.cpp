// The microbatches of a MaxText run.
//
// gradient_accumulation_steps = G forward and backward passes follow one another in a scan, each of
// floor(devices x per_device_batch_size) sequences. With a pipeline each pass fills and drains it:
// its sequences go through in m microbatches, num_pipeline_microbatches or as many as there are
// stages (twice as many with pipeline_delay_activation_forwarding). All forward passes precede all
// backward ones, as JAX differentiates the loop. A stage has num_pipeline_repeats runs of
// num_layers_per_pipeline_stage layers, between which microbatches circulate.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/utils/gradient_accumulation.py,
// src/maxtext/layers/pipeline.py and src/maxtext/configs/types.py (calculate_global_batch_sizes,
// using_pipeline_parallelism).
#include <cmath>
#include <fmt/format.h>

#include "scenarios/src/import/maxtext_import.h"

namespace podsim::scenarios {
namespace {

struct Pipeline {
    std::int64_t microbatches = 1;
    std::int64_t repeats = 1;
};

/// Returns the key to blame for stages that do not divide the layers: a key of the command line
/// before one of the file.
std::string key_of_stages(const MaxTextSettings& settings) {
    std::string present = "ici_pipeline_parallelism";
    for (const char* const key : {"dcn_pipeline_parallelism", "ici_pipeline_parallelism",
                                  "num_layers_per_pipeline_stage", "num_pipeline_repeats"}) {
        if (settings.overridden(key)) {
            present = key;
        }
    }
    return present;
}

/// Refuses layers outside a pipeline: MaxText runs them before it on all devices, which cannot be
/// expressed.
void refuse_part(MaxTextSettings& settings, const MaxTextModel& model) {
    std::int64_t in_pipeline = settings.whole("pipeline_parallel_layers", -1, -1);
    if (in_pipeline == -1) {
        in_pipeline = model.layers - model.first_dense;  // the layers of experts, for DeepSeek
    }
    if (in_pipeline != model.layers) {
        settings.refuse(
            key_of_stages(settings),
            fmt::format("MaxText pipelines {} of the {} layers and runs the others on all devices, "
                        "which is not modelled",
                        in_pipeline, model.layers),
            "write 1 way of it, or a scenario whose stages share all layers");
    }
}

/// Reads the pipeline. Throws for the conditions that MaxText asserts.
Pipeline read_pipeline(MaxTextSettings& settings, std::int64_t micro, std::int64_t layers,
                       std::int64_t stages) {
    const std::int64_t per_stage = settings.whole("num_layers_per_pipeline_stage", 1, 1);
    Pipeline pipeline;
    pipeline.repeats = settings.whole("num_pipeline_repeats", -1, -1);
    if (pipeline.repeats == -1) {
        pipeline.repeats = layers / (stages * per_stage);
    }
    if (stages * per_stage > layers || stages * per_stage * pipeline.repeats != layers) {
        settings.refuse(
            key_of_stages(settings),
            fmt::format("{} stages x {} repeats x {} layers are not the {} layers of the model",
                        stages, pipeline.repeats, per_stage, layers),
            "change the stages, the repeats or the layers of a stage");
    }
    pipeline.microbatches = settings.whole("num_pipeline_microbatches", -1, -1);
    if (pipeline.microbatches < 1) {
        const bool delays = settings.has("pipeline_delay_activation_forwarding") &&
                            settings.flag("pipeline_delay_activation_forwarding", false);
        pipeline.microbatches = delays ? 2 * stages : stages;
    }
    if (pipeline.microbatches % stages != 0 || micro % pipeline.microbatches != 0) {
        settings.refuse(
            "num_pipeline_microbatches",
            fmt::format("{} microbatches of {} sequences in {} stages", pipeline.microbatches,
                        micro, stages),
            "MaxText wants a multiple of the stages that divides the sequences of a pass");
    }
    return pipeline;
}

}  // namespace

MaxTextBatch maxtext_batch(MaxTextSettings& settings, const MaxTextMachine& machine) {
    const double per_device = settings.number("per_device_batch_size", 12);
    const std::int64_t devices = machine.devices() * machine.slices;
    const double micro = std::floor(per_device * static_cast<double>(devices));
    MaxTextBatch batch;
    batch.sequence = settings.whole("max_target_length", 1, 2048);
    batch.steps = settings.whole("gradient_accumulation_steps", 1, 1);
    const bool too_often = micro <= 1e9 && micro * static_cast<double>(batch.steps) > 1e9;
    if (micro < 1 || micro > 1e9 || too_often) {
        settings.refuse(
            too_often ? "gradient_accumulation_steps" : "per_device_batch_size",
            fmt::format("{} on {} devices is no number of sequences", per_device, devices),
            "a step has from one to a thousand million sequences");
    }
    batch.micro = static_cast<std::int64_t>(micro);
    return batch;
}

std::vector<std::string> maxtext_microbatches(MaxTextSettings& settings, const MaxTextBatch& batch,
                                              const MaxTextModel& model, std::int64_t stages,
                                              std::vector<std::string>& notes) {
    if (stages == 1) {
        return batch.steps == 1
                   ? std::vector<std::string>{}
                   : std::vector<std::string>{fmt::format("microbatches: {}", batch.steps)};
    }
    refuse_part(settings, model);
    const Pipeline pipeline = read_pipeline(settings, batch.micro, model.layers, stages);
    std::vector<std::string> parts{
        fmt::format("microbatches: {}", batch.steps * pipeline.microbatches)};
    if (pipeline.repeats > 1) {
        parts.push_back(fmt::format("schedule: interleaved, chunks: {}", pipeline.repeats));
    } else {
        // With several passes only one is in memory; with gpipe all would be.
        parts.emplace_back(batch.steps > 1 ? "schedule: 1f1b" : "schedule: gpipe");
    }
    if (batch.steps > 1) {
        // Slots of a microbatch in a run of layers: a drain and fill between two passes leaves
        // these empty.
        const auto busy = static_cast<double>(pipeline.repeats * pipeline.microbatches);
        const auto empty = static_cast<double>(stages - 1);
        const auto passes = static_cast<double>(batch.steps);
        const double missing = (passes - 1) * empty / (passes * (busy + empty));
        settings.cannot(
            "gradient_accumulation_steps",
            fmt::format("MaxText drains the pipeline behind each of the {} passes, podsim once: "
                        "some {:.1f} % of the step are missing",
                        batch.steps, 100 * missing));
    }
    if (parts.back() != "schedule: gpipe" && pipeline.microbatches > stages) {
        notes.push_back(fmt::format(
            "MaxText runs the forward passes of all {} microbatches first, and keeps what their "
            "backward passes need; this schedule keeps that of about {}",
            pipeline.microbatches, stages));
    }
    return parts;
}

}  // namespace podsim::scenarios
