#include "scenarios/commands/run_report.h"

#include "scenarios/commands/report_option.h"
#include "scenarios/load/load.h"
#include "scenarios/page/run_page.h"

namespace podsim::scenarios {

void write_run_report(const RunAnswer& answer, const Usage& options, const ScenarioSource& source,
                      const std::string& path) {
    if (path.empty() || !has_trail(answer)) {
        return;
    }
    const Json json = answer_json(answer);
    const auto* const step = std::get_if<StepResult>(&answer.result);
    if (step == nullptr) {
        write_report(program_page(answer.scenario, json), path);
        return;
    }
    YamlNode tree = read_scenario(source);
    for (const std::string& setting : options.all("set")) {
        apply_setting(tree, setting);
    }
    write_fitting_report(path, kMostSlicesShown, [&](std::size_t most) {
        return step_page(answer.scenario, *step, json, tree, most);
    });
}

}  // namespace podsim::scenarios
