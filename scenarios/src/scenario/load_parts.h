// The sections of load_scenario, one function for each section of the file. Internal to the loader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/scenario/program.h"
#include "scenarios/src/scenario/reader.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/search_section.h"
#include "scenarios/src/scenario/training_parts.h"
#include "topology/mesh/mesh.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

struct Evaluation;
struct ReportOptions;
struct ServingSpec;
struct TrainingStep;

/// `base` is the folder to which the file of a profile is relative; `serves` is true for inference
/// (read_profile.h).
IdealHardware read_hardware(const Reader& hardware, const std::filesystem::path& base, bool serves);

/// `base` is the folder to which hf_config is relative.
workloads::ModelSpec read_model(const Reader& model, const std::filesystem::path& base);

/// `whole` is the axis of all chips of a slice if no mesh is given.
topology::DeviceMesh read_mesh(const Reader& mesh, const Reader& mesh_mapping,
                               const Hardware& hardware, const char* whole);

/// Returns the factors of each axis as `mesh:` has them: `x/4 y z/2`; `1` for an axis of one
/// member.
std::vector<std::string> mesh_axes(const topology::DeviceMesh& mesh, const Hardware& hardware);

/// Reads `perturb:` on that hardware.
std::vector<Perturbation> read_perturbations(const Reader& perturb, const Hardware& hardware);

/// Reads `search:`.
SearchSection read_search(const Reader& section);

/// Reads `program:` on that hardware.
Program read_program(const Reader& program, const Hardware& hardware);

/// Reads `evaluation:` of a scenario whose model and plan have been read.
std::optional<Evaluation> read_evaluation(const Reader& evaluation, const Scenario& scenario);
/// `serves` is true for a step of inference, whose price is that of its tokens.
ReportOptions read_report(const Reader& report, bool serves);

std::vector<Expectation> read_expectations(const Reader& expect);
/// Refuses expected quantities of a program that only training steps have.
void refuse_step_quantities(const Reader& expect);
/// Refuse expected quantities of a serving run that only steps have, and the other way round.
void refuse_all_but_served_quantities(const Reader& expect);
void refuse_served_quantities(const Reader& expect);
/// Refuses the rate of tokens of a step without inference, and the time per token if no token of a
/// sequence follows another.
void check_token_quantities(const Reader& expect, const TrainingStep& step);
/// Refuses times between tokens of a serving run whose answers have one token.
void refuse_times_between_tokens(const Reader& expect, const ServingSpec& serving);
/// Refuses an expected formula if the scenario lacks what it needs.
void check_formulas(const Reader& expect, const Scenario& scenario);

/// Throws sim::InputError if the shape has more chips than kMostChips.
void check_chip_limit(const topology::Point& shape);

}  // namespace podsim::scenarios
