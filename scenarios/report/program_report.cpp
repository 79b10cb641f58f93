// What `podsim run` says of a program scenario.
#include <fmt/format.h>

#include "scenarios/report/report.h"
#include "scenarios/text/format.h"

namespace podsim::scenarios {

std::string program_report(const Scenario& scenario, const ProgramResult& result,
                           std::span<const Verdict> verdicts) {
    const Program& program = *scenario.program;
    const auto milliseconds = [](sim::Time time) {
        return fmt::format("{:.6f}", static_cast<double>(time.ps) / 1e9);
    };
    std::string text = scenario.name + '\n';
    Table head;
    head.row({"slice", slice_text(scenario.hardware)});
    head.row({"program", fmt::format("{} {} in {} {}", program.stages.size(),
                                     program.stages.size() == 1 ? "stage" : "stages",
                                     program.pieces, program.pieces == 1 ? "piece" : "pieces")});
    text += head.text(2);
    text += fmt::format("\nTime {}\n  bound by {}: its bytes and FLOPs alone take {}\n\n",
                        format_time(result.time.seconds()), result.stages[result.limiting].name,
                        format_time(result.lower.value()));
    Table stages({0, 1});
    stages.row({"Stage", "on", "from ms", "to ms", "bound"});
    for (const StageResult& stage : result.stages) {
        stages.row({"  " + stage.name, stage.resource, milliseconds(stage.began),
                    milliseconds(stage.ended), format_time(stage.bound.value())});
    }
    text += stages.text(0) + '\n';
    for (const StageResult& stage : result.stages) {
        if (stage.gather_bound) {
            const bool waits = *stage.gather_bound > *stage.matmul_bound;
            text += fmt::format("{} is {}-bound: its gather takes {} alone, its matmul {}\n\n",
                                stage.name, waits ? "communication" : "compute",
                                format_time(stage.gather_bound->value()),
                                format_time(stage.matmul_bound->value()));
        }
    }
    Table gap;
    gap.row({"Gap: time - largest bound", "ms"});
    sim::Time total;
    for (const Share& term : result.gap) {
        gap.row({"  " + term.name, milliseconds(term.time)});
        total += term.time;
    }
    gap.row({"  gap", milliseconds(total)});
    text += gap.text(0) + '\n' + links_report(result.links);
    for (const Verdict& verdict : verdicts) {
        text += "\nExpected " + verdict_text(verdict) + '\n';
    }
    return text + '\n' +
           effort_line(result.simulated_chips, scenario.hardware.chips(), result.events,
                       result.wall_time_s);
}

Json program_json(const Scenario& scenario, const ProgramResult& result,
                  std::span<const Verdict> verdicts) {
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
    Json gap = Json::object();
    for (const Share& term : result.gap) {
        gap[term.name] = decimal_seconds(term.time);
    }
    Json gap_to_book = Json::object();
    for (const Share& term : result.gap_to_book) {
        gap_to_book[term.name] = decimal_seconds(term.time);
    }
    Json json = {{"schema", kSchemaName},
                 {"name", scenario.name},
                 {"chip", scenario.hardware.chip.name},
                 {"chips", scenario.hardware.chips()},
                 {"step_time_s", decimal_seconds(result.time)},
                 {"bound", result.stages[result.limiting].name},
                 {"analytic",
                  {{"book_s", result.book ? Json(result.book->value()) : Json()},
                   {"roofline_lower_s", result.lower.value()},
                   {"roofline_serial_s", result.serial.value()}}},
                 {"gap", gap},
                 {"gap_to_book", gap_to_book},
                 {"stages", stages},
                 {"links", links_json(result.links)},
                 {"events", result.events},
                 {"simulated_chips", result.simulated_chips},
                 {"wall_time_s", result.wall_time_s}};
    json["expectations"] = verdicts_json(verdicts);
    return json;
}

}  // namespace podsim::scenarios
