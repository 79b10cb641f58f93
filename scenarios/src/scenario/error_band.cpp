#include "scenarios/src/scenario/error_band.h"

#include <algorithm>
#include <sstream>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {

StepKind kind_of(const Scenario& scenario) {
    return {scenario.hardware.catalogue_name(), scenario.step().model.experts.count > 0,
            scenario.step().plan.precision.matmul != workloads::MatmulDtype::bf16};
}

std::optional<StepBand> band_of(const ErrorBand& band, const StepKind& kind, std::int64_t d_model) {
    if (band.like <= 0) {
        return std::nullopt;
    }
    const bool like = d_model >= (kind.experts ? band.experts_from : band.dense_from) &&
                      std::ranges::find(band.measured, kind) != band.measured.end();
    return StepBand{like ? band.like : band.unlike, like};
}

std::optional<StepBand> band_of(const Scenario& scenario) {
    return scenario.step().plan.inference ? std::nullopt
                                          : band_of(scenario.hardware.error_band, kind_of(scenario),
                                                    scenario.step().model.d_model);
}

std::string to_string(const StepKind& kind) {
    return kind.chip + (kind.experts ? " experts" : " dense") +
           (kind.quantised ? " quantised" : " bf16");
}

std::optional<StepKind> parse_step_kind(const std::string& text) {
    std::istringstream words(text);
    StepKind kind;
    std::string model;
    std::string matmuls;
    words >> kind.chip >> model >> matmuls;
    kind.experts = model == "experts";
    kind.quantised = matmuls == "quantised";
    return to_string(kind) == text ? std::optional(kind) : std::nullopt;
}

}  // namespace podsim::scenarios
