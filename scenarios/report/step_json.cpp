// The JSON of `podsim run`, and the trace.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scenarios/report/report.h"
#include "workloads/plan/pipeline_order.h"

namespace podsim::scenarios {
namespace {

Json shares_json(std::span<const Share> shares) {
    Json object = Json::object();
    for (const Share& share : shares) {
        object[share.name] = decimal_seconds(share.time);
    }
    return object;
}

/// `1`, and `0.75` of weights in several pieces.
Json layers_json(double layers) {
    if (std::floor(layers) == layers) {
        return static_cast<std::int64_t>(layers);
    }
    return layers;
}

Json memory_json(const MemoryUse& memory) {
    Json at_peak = Json::object();
    for (const auto& [name, bytes] : memory.at_peak) {
        at_peak[name + "_bytes"] = bytes.value();
    }
    return {{"peak_bytes", memory.peak.value()},
            {"capacity_bytes", memory.capacity.value()},
            {"fits", memory.fits},
            {"peak_at_s", decimal_seconds(memory.peak_at)},
            {"at_peak", std::move(at_peak)}};
}

void add_training_run(Json& json, const Scenario& scenario, const StepResult& result) {
    if (!scenario.report.tokens.has_value()) {
        return;
    }
    const double seconds = *scenario.report.tokens / result.tokens_per_s;
    const double chip_hours = seconds / 3600 * scenario.hardware.chips();
    Json run = {
        {"tokens", *scenario.report.tokens}, {"days", seconds / 86400}, {"chip_hours", chip_hours}};
    if (scenario.report.usd_per_chip_hour.has_value()) {
        run["cost_usd"] = chip_hours * *scenario.report.usd_per_chip_hour;
    }
    json["training_run"] = std::move(run);
}

}  // namespace

Json verdicts_json(std::span<const Verdict> verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) {
        list.push_back({{"quantity", verdict.expectation.quantity},
                        {"analytic", verdict.analytic ? Json(verdict.value) : Json()},
                        {"simulated", verdict.analytic ? Json() : Json(verdict.value)},
                        {"reference", verdict.expectation.of},
                        {"error", verdict.error},
                        {"within", verdict.expectation.within},
                        {"holds", verdict.holds},
                        {"source", verdict.expectation.source}});
    }
    return list;
}

Json links_json(std::span<const LinkUse> links) {
    Json object = Json::object();
    for (const LinkUse& link : links) {
        object[link.name] = {{"busy_fraction", link.busy_fraction},
                             {"bytes", link.bytes.value()},
                             {"busiest_busy_fraction", link.busiest_fraction},
                             {"busiest_bytes", link.busiest_bytes.value()}};
    }
    return object;
}

Json step_json(const Scenario& scenario, const StepResult& result,
               std::span<const Verdict> verdicts) {
    const workloads::Occupancy batch =
        workloads::occupancy(scenario.plan.batch, scenario.plan.ways);
    Json json = {
        {"schema", kSchemaName},
        {"scenario", scenario.name},
        {"file", scenario.file},
        {"chip", scenario.hardware.chip.name},
        {"slice", topology::to_string(scenario.hardware.shape,
                                      scenario.hardware.chip.torus_dimensions.value)},
        {"chips", result.chips},
        {"mesh", scenario.mesh_text},
        {"model", scenario.model.name},
        {"parameters", workloads::count_parameters(scenario.model).total},
        {"batch_tokens", scenario.plan.batch.tokens},
        {"sequence", scenario.plan.batch.sequence},
        {"occupied_fraction", batch.occupied},
        {"step_time_s", decimal_seconds(result.step_time)},
        {"compute_s", decimal_seconds(result.compute)},
        {"exposed_communication_s", decimal_seconds(result.exposed_total)},
        {"mfu", result.mfu},
        {"tokens_per_s", result.tokens_per_s},
        {"hfu", result.hfu},
        {"bound", result.lower.bound},
        {"analytic",
         {{"book_s", result.book.value()},
          {"roofline_lower_s", result.lower.time.value()},
          {"roofline_serial_s", result.serial.value()}}},
        {"gap", shares_json(result.gap)},
        {"critical_path", shares_json(result.critical_path)},
        {"memory", memory_json(result.memory)},
        {"links", links_json(result.links)},
        {"breakdown",
         {{"compute", shares_json(result.breakdown)},
          {"exposed_communication", shares_json(result.exposed)}}},
        {"prefetch_layers", layers_json(result.prefetch_layers)},
        {"profile", scenario.hardware.profile},
        {"warnings", warnings(scenario, result)},
    };
    if (scenario.plan.ways.pipeline > 1) {
        json["pipeline"] = {
            {"stages", scenario.plan.ways.pipeline},
            {"schedule", workloads::to_string(scenario.plan.pipeline.schedule)},
            {"microbatches", scenario.plan.batch.microbatches},
            {"bubble_fraction", result.bubble},
            {"formula_bubble_fraction", workloads::bubble_fraction(scenario.plan, result.passes)},
            {"forward_s", result.passes.forward.value()},
            {"input_gradients_s", result.passes.input_gradients.value()},
            {"weight_gradients_s", result.passes.weight_gradients.value()},
            {"reported_stage", result.reported_stage},
            {"memory_stage", result.memory.stage}};
    }
    if (result.imbalance) {
        json["imbalance"] = {{"attention_over_mean", result.imbalance->attention},
                             {"expert_tokens_over_mean", result.imbalance->experts},
                             {"compute_over_mean", result.imbalance->compute},
                             {"reported_member", result.reported_member},
                             {"memory_member", result.memory.member}};
        if (scenario.plan.experts.uneven()) {
            json["imbalance"]["expert_loads"] = scenario.plan.experts.loads;
        }
        if (result.imbalance->even_step) {
            json["imbalance"]["even_step_time_s"] = decimal_seconds(*result.imbalance->even_step);
        }
    }
    for (const Ceiling& ceiling : result.ceilings) {
        json["what_if"][ceiling.name + "_s"] = decimal_seconds(ceiling.step_time);
    }
    if (scenario.evaluation.has_value()) {
        json["evaluation"] = {{"step_time_s", decimal_seconds(result.evaluation)},
                              {"block_time_s", decimal_seconds(result.block)}};
    }
    add_training_run(json, scenario, result);
    json["expectations"] = verdicts_json(verdicts);
    json["events"] = result.events;
    json["events_processed"] = result.played_events;
    json["simulated_chips"] = result.simulated_chips;
    json["wall_time_s"] = result.wall_time_s;
    return json;
}

Json trace_json(const Scenario& scenario, const StepResult& result) {
    // The compute stream first, then the collectives by urgency.
    std::vector<std::string> tracks = {"compute", "tensor", "context", "weights", "gradients"};
    Json events = Json::array();
    events.push_back(
        {{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", scenario.name}}}});
    const auto track_id = [&](const std::string& track) {
        auto found = std::ranges::find(tracks, track);
        if (found == tracks.end()) {
            tracks.push_back(track);
            found = tracks.end() - 1;
        }
        return found - tracks.begin();
    };
    for (const Span& span : result.spans) {
        constexpr double kPicosecondsPerMicrosecond = 1e6;
        events.push_back({{"name", span.name},
                          {"cat", span.track},
                          {"ph", "X"},
                          {"pid", 0},
                          {"tid", track_id(span.track)},
                          {"ts", static_cast<double>(span.start.ps) / kPicosecondsPerMicrosecond},
                          {"dur", static_cast<double>((span.end - span.start).ps) /
                                      kPicosecondsPerMicrosecond}});
    }
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", 0},
                          {"tid", i},
                          {"args", {{"name", tracks[i]}}}});
    }
    return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace podsim::scenarios
