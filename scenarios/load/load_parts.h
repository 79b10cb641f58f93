// The parts of load_scenario, one function a section of the file. Internal to the loader.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/spec/program.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/yaml/reader.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/matmul_dtype.h"

namespace podsim::workloads {
struct ModelSpec;
struct TrainingPlan;
}  // namespace podsim::workloads

namespace podsim::scenarios {

struct Evaluation;
struct ReportOptions;

/// `base` is the folder that the file of a profile is relative to.
IdealHardware read_hardware(const Reader& hardware, const std::filesystem::path& base);

/// `base` is the folder that hf_config is relative to.
workloads::ModelSpec read_model(const Reader& model, const std::filesystem::path& base);

topology::DeviceMesh read_mesh(const Reader& mesh, const Reader& mesh_mapping,
                               const Hardware& hardware);

/// `fsdp x/4 y z/2, context z%2, tensor x%4`.
std::string mesh_text(const topology::DeviceMesh& mesh, const Hardware& hardware);

/// The plan of `batch`, `training` and `overlap` with the sizes of the mesh on that hardware, checked
/// against the model
/// and the chip.
workloads::TrainingPlan read_plan(const Reader& root, const topology::DeviceMesh& mesh,
                                  const Hardware& hardware, const workloads::ModelSpec& model);

/// Shares of ranks in the tokens of experts whose logarithms are normal with deviation `spread` (near_normal of random.h): a rank
/// has the sum of its equal run of experts. An expert's number comes from the seed and its place alone.
std::vector<double> drawn_shares(double spread, std::uint64_t seed, std::int64_t experts,
                                 int ranks);

/// `training.expert_imbalance` into the plan: `1.2`, the same for all ranks; a share for each, `[4, 2, 1, 0]`; or drawn,
/// `{distribution: lognormal, spread: 50 %, seed: 1}`.
void read_expert_imbalance(const Reader& imbalance, const topology::DeviceMesh& mesh,
                           const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

/// What matmuls multiply: `bf16` without a value, `int8`, or `fp8` where the chip has it.
workloads::MatmulDtype read_dtype(const Reader& dtype, const topology::ChipSpec& chip);

/// `training.remat` into `remat` of the plan.
void read_remat(const Reader& remat, const workloads::ModelSpec& model,
                workloads::TrainingPlan& plan);

/// `perturb:` on that hardware.
std::vector<Perturbation> read_perturbations(const Reader& perturb, const Hardware& hardware);

/// `program:` on that hardware.
Program read_program(const Reader& program, const Hardware& hardware);

/// `overlap:` into the plan, whose ways, placement and mask are known. Ring steps go along the mesh.
void read_overlap(const Reader& overlap, const topology::DeviceMesh& mesh, const Hardware& hardware,
                  const workloads::ModelSpec& model, workloads::TrainingPlan& plan);

/// `evaluation:` of a scenario whose model and plan are known.
std::optional<Evaluation> read_evaluation(const Reader& evaluation, const Scenario& scenario);
ReportOptions read_report(const Reader& report);

std::vector<Expectation> read_expectations(const Reader& expect);
/// Throws where a program is held to what only training steps have.
void refuse_step_quantities(const Reader& expect);
/// Throws where the scenario lacks what an expected formula is about.
void check_formulas(const Reader& expect, const Scenario& scenario);

/// Throws when the shape has more chips than kMostChips.
void check_chip_limit(const topology::Point& shape);

}  // namespace podsim::scenarios
