// The quantities of `expect:` that are formulas of the reference text instead of results of the
// simulation: the results of How to Scale Your Model for a chip, a mesh, a model and a batch
// (workloads/bounds/book_formulas.h).
#pragma once

#include <span>
#include <string_view>

#include "scenarios/src/scenario/quantity_names.h"
#include "scenarios/src/scenario/scenario.h"

namespace podsim::scenarios {

struct Formula {
    QuantityName quantity;
    /// Returns the value in the base unit, for a scenario that meets `needs`.
    double (*value)(const Scenario& scenario);
    unsigned needs = 0;  ///< bits of FormulaNeed
};

/// The parts of a scenario that a formula needs, beyond a training step or (quantity.of_programs)
/// beyond its machine.
enum FormulaNeed : unsigned {
    kNeedsTokens = 1,      ///< report.tokens
    kNeedsMfu = 2,         ///< report.mfu
    kNeedsTensor = 4,      ///< mesh.tensor above 1
    kNeedsSlices = 8,      ///< hardware.slices above 1
    kNeedsOneTensor = 16,  ///< no mesh.tensor_transpose; kNeedsTensor implies it
    kNeedsInference = 32,  ///< a step of inference
    kNeedsOutput = 64,     ///< report.output_tokens
    kNeedsPrice = 128,     ///< report.price
    /// Ways of FSDP at which communication takes no longer than matmuls.
    kNeedsComputeBound = 512,
    kNeedsMatmuls = 256,  ///< a program of matmuls of one dtype
};

std::span<const Formula> all_formulas();

/// Returns null if the quantity is simulated.
const Formula* find_formula(std::string_view quantity);

/// Throws sim::InputError (without a source position) if the scenario lacks what the formula needs.
void check_formula(const Formula& formula, const Scenario& scenario);

}  // namespace podsim::scenarios
