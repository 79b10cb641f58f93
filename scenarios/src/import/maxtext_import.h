// Import of a MaxText run as a scenario.
//
// The mesh: parallelisms within a slice (`ici_*`) multiply to its devices, and one of them may be
// -1, which fills up; those between slices (`dcn_*`) multiply to the number of slices. A device is
// a chip, except on v2, v3 and tpu7x, where it is half a chip. There a scenario's chip has the work
// of its two devices, and the first of data, fsdp_transpose, fsdp, tensor and expert that is even
// is halved. A single parallelism takes all axes of the slice. Several are given as sizes, which
// podsim maps to axes as JAX's create_device_mesh does, the innermost first. fsdp_transpose splits
// weights along their other dimension; here they are split along one, into the same number of
// shards.
//
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/base.yml,
// src/maxtext/utils/maxtext_utils.py (create_device_mesh), and MaxText/configs/base.yml @76bd53b0
// for keys of 2023.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/import/maxtext_models.h"
#include "scenarios/src/import/maxtext_settings.h"
#include "topology/lattice/lattice.h"

namespace podsim::scenarios {

struct MaxTextImport {
    std::string scenario;            ///< its YAML
    std::vector<std::string> notes;  ///< gaps in the keys, and approximations
};

/// Imports a run; `title` names the scenario. Throws sim::InputError at the key: two -1, products
/// that are not the devices, models and policies that podsim does not know, values out of range,
/// and keys of inference (import/maxtext_inference.h).
MaxTextImport import_maxtext(MaxTextSettings& settings, const std::string& title);

/// Returns a sentence with the number of keys that an imported file of a few overrides lacks, and
/// that are taken as in MaxText of 2023. Empty for a whole base.yml.
std::string maxtext_defaults_text(const MaxTextSettings& settings);

/// Factors of a model's dimensions. `global_parameter_scale` doubles heads and MLP, then the width,
/// then the layers, and so on.
struct MaxTextScales {
    std::int64_t heads_and_mlp = 1;
    std::int64_t width = 1;
    std::int64_t layers = 1;
};
MaxTextScales maxtext_scales(MaxTextSettings& settings);
struct MaxTextModel {
    std::string text;          ///< `model` of the scenario
    std::int64_t layers = 0;   ///< as MaxText counts them
    std::int64_t experts = 0;  ///< of a layer; 0 if there are none
    std::int64_t experts_per_token = 0;
    std::int64_t d_model = 0;
    std::int64_t expert_d_ff = 0;
    bool gated = true;  ///< its MLP has a gate
    bool latent = false;
    /// True without experts, or if the model's own rules say so.
    bool expert_axis_is_fsdp = true;
    std::int64_t first_dense = 0;  ///< layers before those of experts
};
/// Returns the scenario's model for a `model_name`, with the command line's changes
/// (maxtext_overrides.cpp).
MaxTextModel maxtext_named_model(MaxTextSettings& settings, const std::string& name,
                                 const MaxTextNamedModel& known, std::vector<std::string>& notes);
MaxTextModel maxtext_model(MaxTextSettings& settings, std::vector<std::string>& notes);

/// The slice, and its devices.
struct MaxTextMachine {
    std::string chip;
    std::string slice;
    topology::Point shape{};
    std::int64_t chips = 0;  ///< of a slice
    std::int64_t slices = 1;
    std::int64_t devices_per_chip = 1;
    int axes = 0;  ///< axes of the slice longer than 1
    [[nodiscard]] std::int64_t devices() const { return chips * devices_per_chip; }
};
MaxTextMachine maxtext_machine(MaxTextSettings& settings);
struct MaxTextMesh {
    std::string text;          ///< `mesh: {...}`
    std::int64_t stages = 1;   ///< of a pipeline
    bool data = false;         ///< true with data parallelism
    std::int64_t experts = 1;  ///< ways that split experts
    std::int64_t tensor = 1;   ///< ways that split the experts' matrices
};
/// Returns the mesh. `expert` may be fsdp: MaxTextModel::expert_axis_is_fsdp.
MaxTextMesh maxtext_mesh(MaxTextSettings& settings, const MaxTextMachine& machine,
                         const MaxTextModel& model, std::vector<std::string>& notes);
/// The sequences of a step: `gradient_accumulation_steps` times a forward and backward pass of
/// `micro`.
struct MaxTextBatch {
    std::int64_t micro = 0;
    std::int64_t steps = 1;
    std::int64_t sequence = 0;
};
MaxTextBatch maxtext_batch(MaxTextSettings& settings, const MaxTextMachine& machine);
/// Returns the keys of `training` that split the batch into microbatches
/// (maxtext_microbatches.cpp).
std::vector<std::string> maxtext_microbatches(MaxTextSettings& settings, const MaxTextBatch& batch,
                                              const MaxTextModel& model, std::int64_t stages,
                                              std::vector<std::string>& notes);
/// Returns `gradient_reduction: each` for several microbatches with data parallelism and no
/// pipeline (maxtext_reduction.cpp); empty otherwise.
std::string maxtext_reduction(MaxTextSettings& settings, const MaxTextBatch& batch,
                              const MaxTextMesh& mesh, std::vector<std::string>& notes);
/// Returns two lines, `training: {...}` and `overlap: {...}`.
std::string maxtext_training(MaxTextSettings& settings, const MaxTextMachine& machine,
                             const MaxTextModel& model, const MaxTextBatch& batch,
                             const MaxTextMesh& mesh, std::vector<std::string>& notes);

}  // namespace podsim::scenarios
