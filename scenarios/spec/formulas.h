// The quantities of `expect:` that are formulas of the reference text instead of results of the simulation: what
// How to Scale Your Model works out for a chip, a mesh, a model and a batch (workloads/analytic/book_formulas.h).
#pragma once

#include <span>
#include <string_view>

#include "scenarios/spec/quantity_names.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

struct Formula {
    QuantityName quantity;
    double (*value)(const Scenario& scenario);  ///< in the base unit; of a scenario that has it
    unsigned needs = 0;                         ///< of FormulaNeed
};

/// What of a scenario a formula is about, beyond a training step, or (quantity.of_programs) beyond its machine.
enum FormulaNeed : unsigned {
    kNeedsTokens = 1,          ///< report.tokens
    kNeedsMfu = 2,             ///< report.mfu
    kNeedsTensor = 4,          ///< mesh.tensor above 1
    kNeedsSlices = 8,          ///< hardware.slices above 1
    kNeedsOneTensor = 16,      ///< no mesh.tensor_transpose, as kNeedsTensor too
    kNeedsInference = 32,      ///< a step of inference
    kNeedsOutput = 64,         ///< report.output_tokens
    kNeedsPrice = 128,         ///< report.price
    kNeedsComputeBound = 512,  ///< ways of FSDP at which communication takes no longer than matmuls
    kNeedsMatmuls = 256,       ///< a program of matmuls of one dtype
};

std::span<const Formula> all_formulas();

/// Nothing where the quantity is simulated.
const Formula* find_formula(std::string_view quantity);

/// Throws sim::InputError (without a place) when the scenario lacks what the formula is about.
void check_formula(const Formula& formula, const Scenario& scenario);

}  // namespace podsim::scenarios
