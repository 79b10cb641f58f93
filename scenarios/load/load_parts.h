// The parts of load_scenario, one function a section of the file. Internal to the loader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/spec/program.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/spec/search_section.h"
#include "scenarios/training/training_parts.h"
#include "scenarios/yaml/reader.h"
#include "topology/mesh/mesh.h"

namespace podsim::workloads {
struct ModelSpec;
}  // namespace podsim::workloads

namespace podsim::scenarios {

struct Evaluation;
struct ReportOptions;
struct ServingSpec;
struct TrainingStep;

/// `base` is the folder that the file of a profile is relative to; `serves`: for inference (profile/read_profile.h).
IdealHardware read_hardware(const Reader& hardware, const std::filesystem::path& base, bool serves);

/// `base` is the folder that hf_config is relative to.
workloads::ModelSpec read_model(const Reader& model, const std::filesystem::path& base);

/// `whole`: what all chips of a slice are where no mesh is given.
topology::DeviceMesh read_mesh(const Reader& mesh, const Reader& mesh_mapping,
                               const Hardware& hardware, const char* whole);

/// The factors of each axis as `mesh:` has them: `x/4 y z/2`; `1` for an axis of one member.
std::vector<std::string> mesh_axes(const topology::DeviceMesh& mesh, const Hardware& hardware);

/// `perturb:` on that hardware.
std::vector<Perturbation> read_perturbations(const Reader& perturb, const Hardware& hardware);

/// What `search` asks for.
SearchSection read_search(const Reader& section);

/// `program:` on that hardware.
Program read_program(const Reader& program, const Hardware& hardware);

/// `evaluation:` of a scenario whose model and plan are known.
std::optional<Evaluation> read_evaluation(const Reader& evaluation, const Scenario& scenario);
/// `serves`: of a step of inference, whose price is that of its tokens.
ReportOptions read_report(const Reader& report, bool serves);

std::vector<Expectation> read_expectations(const Reader& expect);
/// Throws where a program is held to what only training steps have.
void refuse_step_quantities(const Reader& expect);
/// Where a serving run is held to what only steps have, and the other way round.
void refuse_all_but_served_quantities(const Reader& expect);
void refuse_served_quantities(const Reader& expect);
/// A step without tokens of a sequence, or with one, has no value of them.
void check_token_quantities(const Reader& expect, const TrainingStep& step);
/// Nor has a serving run whose answers have one token.
void refuse_times_between_tokens(const Reader& expect, const ServingSpec& serving);
/// Throws where the scenario lacks what an expected formula is about.
void check_formulas(const Reader& expect, const Scenario& scenario);

/// Throws when the shape has more chips than kMostChips.
void check_chip_limit(const topology::Point& shape);

}  // namespace podsim::scenarios
