#include "scenarios/src/report/step_json.h"

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/advise/diagnosis.h"
#include "scenarios/src/report/parts_json.h"
#include "scenarios/src/report/quantities.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/work/placed_runs.h"

namespace podsim::scenarios {
namespace {

/// Adds the mesh as `mesh:` of a scenario takes it, and the number of members of each axis.
void add_mesh(Json& json, const TrainingStep& step) {
    json["mesh"] = Json::object();
    json["mesh_sizes"] = Json::object();
    for (std::size_t i = 0; i < step.mesh_axes.size(); ++i) {
        const topology::LogicalAxis& axis = step.mesh.axes()[i];
        json["mesh"][axis.name] = step.mesh_axes[i];
        json["mesh_sizes"][axis.name] = axis.size();
    }
}

/// Returns the request.
Json head_json(const Scenario& scenario, const StepResult& result) {
    Json json = {
        {"schema", kSchemaName},
        {"scenario", scenario.name},
        {"file", scenario.file},
        {"chip", scenario.hardware.chip.name},
        {"slice", topology::to_string(scenario.hardware.shape,
                                      scenario.hardware.chip.torus_dimensions.value)},
    };
    add_values(json, JsonPart::machine, scenario, result);
    add_mesh(json, scenario.step());
    json["model"] = scenario.step().model.name;
    json["parameters"] = workloads::count_parameters(scenario.step().model).total;
    json["batch_tokens"] = scenario.step().plan.batch.tokens;
    json["sequence"] = scenario.step().plan.batch.sequence;
    json["occupied_fraction"] =
        workloads::occupancy_of(scenario.step().model, scenario.step().plan).occupied;
    return json;
}

Json at_peak_json(const MemoryUse& memory) {
    Json at_peak = Json::object();
    for (const auto& [name, bytes] : memory.at_peak) {
        at_peak[name] = bytes.value();
    }
    return at_peak;
}

Json ledger_json(std::span<const LedgerRow> ledger) {
    Json list = Json::array();
    for (const LedgerRow& row : ledger) {
        list.push_back({{"name", row.name},
                        {"share_s", decimal_seconds(row.share)},
                        {"alone_s", decimal_seconds(row.alone)},
                        {"agrees", row.agrees()}});
        if (!row.together.empty()) {
            list.back()["together_with"] = row.together;
        }
    }
    return list;
}

/// Adds the profile, and how far published steps like this one were from its predictions.
void add_profile(Json& json, const Scenario& scenario) {
    json["profile"] = profile_name(scenario.hardware);
    if (!scenario.hardware.profile_version.empty()) {
        json["profile_version"] = scenario.hardware.profile_version;
    }
    if (scenario.hardware.core_clock != 1) {
        json["core_clock"] = scenario.hardware.core_clock;
    }
    if (const auto band = band_of(scenario)) {
        json["error_band"] = {{"fraction", band->share}, {"like_published", band->like}};
    }
}

}  // namespace

Json step_json(const Scenario& scenario, const StepResult& result,
               std::span<const Verdict> verdicts, std::optional<WallTime> wall) {
    Json json = head_json(scenario, result);
    const auto add = [&](JsonPart part) { add_values(json, part, scenario, result); };
    add(JsonPart::times);
    add(JsonPart::rates);
    add(JsonPart::bounds);
    if (scenario.hardware.hbm == HbmRule::shared) {
        json["analytic"]["book_weight_loading"] = result.book_loading.parts();
    }
    if (result.explained) {
        json["diagnosis"] = diagnosis(result);
        json["gap_s"] = shares_json(result.gap);
        json["shortfalls"] = ledger_json(result.ledger);
        json["critical_path_s"] = shares_json(result.critical_path);
    }
    add(JsonPart::memory);
    json["memory"]["at_peak_bytes"] = at_peak_json(result.memory);
    json["links"] = links_json(result.links);
    json["breakdown_s"] = {{"compute", shares_json(result.breakdown)},
                           {"exposed_communication", shares_json(result.exposed)}};
    add(JsonPart::layers);
    add_profile(json, scenario);
    json["warnings"] = warnings(scenario, result);
    if (scenario.step().plan.ways.pipeline > 1) {
        add(JsonPart::pipeline);
    }
    add(JsonPart::imbalance);
    if (result.imbalance && scenario.step().plan.experts.uneven()) {
        json["imbalance"]["expert_loads"] = scenario.step().plan.experts.loads;
    }
    add(JsonPart::even_work);
    for (const Ceiling& ceiling : result.ceilings) {
        json["what_if_s"][ceiling.name] = decimal_seconds(ceiling.step_time);
    }
    add(JsonPart::evaluation);
    add(JsonPart::training_run);
    add(JsonPart::inference);
    json["expectations"] = verdicts_json(verdicts);
    add(JsonPart::events);
    add(JsonPart::folding);
    if (wall.has_value()) {
        json["wall_time_s"] = wall->simulated_s;
    }
    return json;
}

}  // namespace podsim::scenarios
