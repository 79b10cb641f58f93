#include "scenarios/src/report/program_report.h"

#include <fmt/format.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/parts_json.h"
#include "scenarios/src/report/quantities.h"
#include "scenarios/src/report/shares_table.h"
#include "scenarios/src/scenario/changed_chip.h"

namespace podsim::scenarios {

namespace {

std::string milliseconds(sim::Time time) {
    return fmt::format("{:.6f}", static_cast<double>(time.ps) / 1e9);
}

std::string head(const Scenario& scenario) {
    const Program& program = scenario.program();
    Table table;
    table.row({"slice", slice_text(scenario.hardware)});
    table.row({"program", fmt::format("{} {} in {} {}", program.stages.size(),
                                      program.stages.size() == 1 ? "stage" : "stages",
                                      program.pieces, program.pieces == 1 ? "piece" : "pieces")});
    return scenario.name + '\n' + table.text(2);
}

/// Returns when each stage ran. For a matmul with a gathered operand it also says which of the two
/// bounds it.
std::string stages_text(const ProgramResult& result) {
    Table table({0, 1});
    table.row({"Stage", "on", "from ms", "to ms", "bound"});
    for (const StageResult& stage : result.stages) {
        table.row({"  " + stage.name, stage.resource, milliseconds(stage.began),
                   milliseconds(stage.ended), format_time(stage.bound.value())});
    }
    std::string text = table.text(0) + '\n';
    for (const StageResult& stage : result.stages) {
        if (stage.gather_bound) {
            const bool waits = *stage.gather_bound > *stage.matmul_bound;
            text += fmt::format("{} is {}-bound: its gather takes {} alone, its matmul {}\n\n",
                                stage.name, waits ? "communication" : "compute",
                                format_time(stage.gather_bound->value()),
                                format_time(stage.matmul_bound->value()));
        }
    }
    return text;
}

std::string gap_text(const ProgramResult& result) {
    Table table;
    table.row({"Gap: time - largest bound", "ms"});
    for (const Share& term : result.gap) {
        table.row({"  " + term.name, milliseconds(term.time)});
    }
    table.row({"  gap", milliseconds(total_of(result.gap))});
    return table.text(0);
}

Json stages_json(const ProgramResult& result) {
    Json stages = Json::array();
    for (const StageResult& stage : result.stages) {
        stages.push_back({{"name", stage.name},
                          {"resource", stage.resource},
                          {"began_s", decimal_seconds(stage.began)},
                          {"ended_s", decimal_seconds(stage.ended)},
                          {"bound_s", stage.bound.value()}});
        if (stage.gather_bound) {
            stages.back()["gather_bound_s"] = stage.gather_bound->value();
            stages.back()["matmul_bound_s"] = stage.matmul_bound->value();
        }
    }
    return stages;
}

}  // namespace

std::string program_report(const Scenario& scenario, const ProgramResult& result,
                           std::span<const Verdict> verdicts, WallTime wall) {
    std::string text = head(scenario);
    text += fmt::format("\nTime {}\n  bound by {}: its bytes and FLOPs alone take {}\n\n",
                        format_time(result.time.seconds()), result.stages[result.limiting].name,
                        format_time(result.lower.value()));
    text += stages_text(result) + gap_text(result) + '\n' + links_report(result.links);
    for (const Verdict& verdict : verdicts) {
        text += "\nExpected " + verdict_text(verdict) + '\n';
    }
    return text + '\n' +
           effort_line(result.simulated_chips, scenario.hardware.chips(), result.events, wall);
}

Json program_json(const Scenario& scenario, const ProgramResult& result,
                  std::span<const Verdict> verdicts, std::optional<WallTime> wall) {
    Json json = {{"schema", kSchemaName},
                 {"scenario", scenario.name},
                 {"chip", scenario.hardware.chip.name}};
    const auto add = [&](JsonPart part) { add_values(json, part, scenario, result); };
    add(JsonPart::machine);
    add(JsonPart::times);
    add(JsonPart::bounds);
    json["gap_s"] = shares_json(result.gap);
    json["gap_to_book_s"] = shares_json(result.gap_to_book);
    json["stages"] = stages_json(result);
    json["links"] = links_json(result.links);
    add(JsonPart::events);
    add(JsonPart::folding);
    if (wall.has_value()) {
        json["wall_time_s"] = wall->simulated_s;
    }
    json["warnings"] = profile_warnings(scenario.hardware);
    json["expectations"] = verdicts_json(verdicts);
    return json;
}

}  // namespace podsim::scenarios
