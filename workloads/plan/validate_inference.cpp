#include "workloads/plan/validate_inference.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string_view>

#include "workloads/models/model.h"
#include "workloads/models/setting_error.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

constexpr std::int64_t kMostOfRun = 1LL << 40;
// Layers over all steps of `generate`, each about ten operations.
constexpr std::int64_t kMostLayersPlayed = 400000;

void check_number(std::string_view setting, std::string_view name, std::int64_t value,
                  std::int64_t least) {
    if (value < least || value > kMostOfRun) {
        throw SettingError(std::string(setting),
                           fmt::format("{} = {} is out of range", name, value),
                           fmt::format("allowed are {} to {}", least, kMostOfRun));
    }
}

void check_cache_axis(const TrainingPlan& plan) {
    if (plan.ways.cache == 1) {
        return;
    }
    const std::string setting = fmt::format("cache = {}", plan.ways.cache);
    if (!plan.inference) {
        throw SettingError("mesh.cache", fmt::format("{} in training, which has no cache", setting),
                           "use the axis as tensor");
    }
    if (plan.ways.tensor_transpose > 1 || plan.ways.expert > 1 || plan.ways.context > 1) {
        throw SettingError(
            "mesh.cache",
            fmt::format("{} with tensor_transpose, expert or context: the cache can be split "
                        "beside tensor alone",
                        setting),
            "use the axis as tensor");
    }
}

void check_run(const CachedRun& run, const ModelSpec& model) {
    check_number("inference.batch", "batch", run.sequences, 1);
    check_number("inference.prompt", "prompt", run.fresh, 1);
    check_number("inference.context", "context", run.cached, 0);
    if (const auto refused = too_long(model, run.cached + run.fresh)) {
        throw SettingError("inference.context", refused->problem, refused->remedy);
    }
}

void check_context(const TrainingPlan& plan) {
    const Inference& inference = *plan.inference;
    const CachedRun& first = inference.runs.front();
    if (plan.ways.context > 1 && (first.cached > 0 || first.fresh == 1 ||
                                  inference.runs.size() > 1 || inference.generate > 0)) {
        throw SettingError(
            "mesh.context",
            fmt::format("context = {} splits the prompts of a prefill alone", plan.ways.context),
            "use the axis as tensor, cache or data");
    }
}

void check_generation(const Inference& inference, const ModelSpec& model) {
    const std::int64_t most = kMostLayersPlayed / model.layers;
    if (inference.generate > most) {
        throw SettingError("inference.generate",
                           fmt::format("generate = {} steps of {} layers are more than one program "
                                       "can hold",
                                       inference.generate, model.layers),
                           fmt::format("at most {} tokens; podsim serve plays longer answers step "
                                       "by step",
                                       most));
    }
    for (const CachedRun& run : inference.runs) {
        // The token made last is no step's input. A prompt that is too long by itself is reported
        // there.
        const std::int64_t first = run.cached + run.fresh;
        const auto refused =
            too_long(model, first + std::max<std::int64_t>(inference.generate, 1) - 1);
        if (refused && !too_long(model, first)) {
            throw SettingError("inference.generate", refused->problem, refused->remedy);
        }
    }
}

}  // namespace

std::optional<TooLong> too_long(const ModelSpec& model, std::int64_t tokens) {
    if (model.positions > 0 && tokens > model.positions) {
        return TooLong{.problem = fmt::format("a sequence of {} tokens, but {} has {} positions",
                                              tokens, model.name, model.positions),
                       .remedy = "shorten it"};
    }
    if (model.chunk > 0 && tokens > model.chunk) {
        return TooLong{
            .problem = fmt::format("a sequence of {} tokens, but {} attends within chunks of {}",
                                   tokens, model.name, model.chunk),
            .remedy = "attention across chunks is not modelled: shorten it"};
    }
    return std::nullopt;
}

void check_inference(const TrainingPlan& plan, const ModelSpec& model, sim::InputFaults& faults) {
    faults.check("mesh.cache", {"mesh"}, [&] { check_cache_axis(plan); });
    if (!plan.inference) {
        return;
    }
    faults.check("inference", {"inference", "model", "mesh"}, [&] {
        for (const CachedRun& run : plan.inference->runs) {
            check_run(run, model);
        }
    });
    faults.check("mesh.context", {"mesh.context", "inference"}, [&] { check_context(plan); });
    faults.check("inference.generate", {"inference.generate", "model"},
                 [&] { check_generation(*plan.inference, model); });
    const char* const steps = plan.overlap.tensor_steps ? "overlap.tensor" : "overlap.context";
    faults.check(steps, {"overlap"}, [&] {
        if (plan.overlap.tensor_steps || plan.overlap.context_steps) {
            throw SettingError(steps,
                               "ring steps between parts of a matmul or of attention, in inference",
                               "leave it out: podsim has them in training alone");
        }
    });
}

}  // namespace podsim::workloads
