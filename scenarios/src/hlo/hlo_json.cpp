#include "scenarios/src/hlo/hlo_json.h"

#include <algorithm>
#include <utility>

#include "scenarios/src/report/parts_json.h"

namespace podsim::scenarios {
namespace {

using workloads::hlo::Totals;

Json module_json(const HloInput& input) {
    return {{"module", input.module.name},
            {"devices", input.devices},
            {"scheduled", input.module.is_scheduled()},
            {"fused", workloads::hlo::is_fused(input.module)},
            {"cut_off", input.module.cut_off},
            {"missing_computations", input.module.missing}};
}

Json collectives_json(const Totals& totals) {
    Json array = Json::array();
    for (const auto& [key, total] : totals.collectives) {
        array.push_back({{"op", key.first},
                         {"groups", key.second},
                         {"count", total.count},
                         {"result_bytes", total.result.value()},
                         {"received_bytes", total.received.value()},
                         {"written_as_all_reduce", total.was_all_reduce},
                         {"count_by_pass", total.passes}});
    }
    return array;
}

Json matmuls_json(const std::map<std::string, workloads::hlo::MatmulTotal>& types) {
    Json array = Json::array();
    for (const auto& [name, total] : types) {
        array.push_back({{"types", name},
                         {"count", total.count},
                         {"flops", total.flops.value()},
                         {"passes", total.passes}});
    }
    return array;
}

Json instructions_json(const std::vector<InstructionTime>& all) {
    Json array = Json::array();
    for (const InstructionTime& one : all) {
        array.push_back({{"name", one.name},
                         {"what", one.what},
                         {"runs", one.runs},
                         {"op_name", one.op_name},
                         {"time_s", decimal_seconds(one.time)},
                         {"exposed_s", decimal_seconds(one.exposed)},
                         {"bytes", one.bytes.value()}});
    }
    return array;
}

}  // namespace

Json totals_json(const HloInput& input, const Totals& totals) {
    Json json = {{"schema", kSchemaName}};
    json.update(module_json(input));
    Json passes = Json::object();
    for (const auto& [pass, flops] : totals.flops_by_pass) {
        passes[pass] = flops.value();
    }
    Json loops = Json::array();
    for (const auto& loop : totals.loops) {
        loops.push_back({{"name", loop.name},
                         {"iterations", loop.trips},
                         {"runs", loop.runs},
                         {"line", loop.line}});
    }
    json.update({{"matmuls", totals.matmuls},
                 {"matmul_flops", totals.matmul_flops.value()},
                 {"attention_flops", totals.attention_flops.value()},
                 {"given_flops", totals.given_flops.value()},
                 {"estimated_flops", totals.estimated_flops.value()},
                 {"matmuls_by_type", matmuls_json(totals.matmul_types)},
                 {"by_pass_flops", std::move(passes)},
                 {"vector_flops", totals.vector.value()},
                 {"hbm_bytes", totals.hbm.value()},
                 {"argument_bytes", totals.parameters.value()},
                 {"collectives", collectives_json(totals)},
                 {"loops", std::move(loops)},
                 {"custom_calls", totals.custom_calls},
                 {"unknown_custom_calls", totals.unknown_calls},
                 {"unknown_opcodes", totals.unknown_opcodes},
                 {"estimated_custom_calls", totals.estimated_calls},
                 {"kernel_sent_bytes", totals.remote.value()},
                 {"ids_beyond_header", totals.beyond_counts},
                 {"host_copies", totals.host_copies},
                 {"host_copy_bytes", totals.host_bytes.value()},
                 {"conditionals", totals.branches},
                 {"sends_left_out", totals.left_out}});
    return json;
}

Json hlo_json(const HloRequest& request, const HloResult& result, double wall_time_s) {
    const Hardware& hardware = request.hardware;
    Json json = {{"schema", kSchemaName}};
    json.update(module_json(request.input));
    Json mesh = Json::object();
    for (const topology::LogicalAxis& axis : result.devices.mesh.axes()) {
        mesh[axis.name] = axis.size();
    }
    json.update(
        {{"chip", hardware.chip.name},
         {"slice", topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value)},
         {"slices", hardware.slices},
         {"chips", hardware.chips()},
         {"profile", hardware.profile},
         {"profile_version", hardware.profile_version},
         {"mesh_sizes", std::move(mesh)},
         {"step_time_s", decimal_seconds(result.step_time)},
         {"compute_s", decimal_seconds(result.compute)},
         {"exposed_communication_s", decimal_seconds(result.exposed_total)},
         {"executed_flops", result.flops.value()},
         {"hfu", result.hfu},
         {"bound", result.lower.bound},
         {"analytic",
          {{"roofline_lower_s", result.lower.time.value()},
           {"roofline_serial_s", result.serial.value()}}},
         {"breakdown_s", shares_json(result.breakdown)},
         {"exposed_s", shares_json(result.exposed)},
         {"critical_path_s", shares_json(result.critical_path)},
         {"gap_s", shares_json(result.gap)},
         {"kernels", instructions_json(result.kernels)},
         {"collectives", instructions_json(result.collectives)},
         {"memory",
          {{"argument_bytes", result.arguments.value()},
           {"capacity_bytes", result.capacity.value()}}},
         {"links", links_json(result.links)},
         {"open_permutes", result.open_permutes},
         {"reordered_permutes", result.reordered_permutes},
         {"ragged_all_to_alls", result.ragged},
         {"unknown_custom_calls", result.unknown_calls},
         {"unknown_opcodes", result.unknown_opcodes},
         {"matmuls_by_type", matmuls_json(result.matmul_types)},
         {"matmuls_in_bf16", result.in_bf16},
         {"estimated_custom_calls", result.estimated_calls},
         {"kernel_sent_bytes", result.remote.value()},
         {"ids_beyond_header", result.beyond_counts},
         {"sends_left_out", result.left_out},
         {"operations", result.operations},
         {"events", result.events},
         {"played_events", result.played_events},
         {"simulated_chips", result.simulated_chips},
         {"wall_time_s", wall_time_s}});
    return json;
}

}  // namespace podsim::scenarios
