#include "scenarios/src/import/maxtext_report.h"

#include <fmt/format.h>
#include <sstream>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using Line = MaxTextSettings::Line;

Json lines_json(const std::vector<Line>& lines) {
    Json all = Json::array();
    for (const Line& line : lines) {
        Json one = {{"key", line.key}, {"value", line.value}, {"overridden", line.overridden}};
        if (!line.why.empty()) {
            one["why"] = line.why;
        }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

std::string maxtext_report(const MaxTextSettings& settings, const MaxTextImport& result) {
    std::string text = "used:\n";
    for (const Line& line : settings.used()) {
        text += fmt::format("  {} = {}{}\n", line.key, line.value.empty() ? "''" : line.value,
                            line.overridden ? "" : " (of the file)");
    }
    for (const Line& line : settings.taken()) {
        text +=
            fmt::format("  {} = {} (the file does not have the key: what MaxText did without it)\n",
                        line.key, line.value);
    }
    text += "changes nothing:\n";
    std::size_t of_file = 0;
    for (const Line& line : settings.ignored()) {
        if (!line.own) {
            ++of_file;
            continue;
        }
        text += fmt::format("  {} = {}: {}\n", line.key, line.value,
                            line.why.empty() ? "podsim does not know of what it is" : line.why);
    }
    text += fmt::format("  and {} keys of the file that are not read\n", of_file);
    for (const Line& line : settings.not_expressed()) {
        text += fmt::format("not expressed: {} = {}: {}\n", line.key, line.value, line.why);
    }
    for (const std::string& note : result.notes) {
        text += fmt::format("note: {}\n", note);
    }
    return text;
}

std::vector<std::string> maxtext_problems(const MaxTextImport& result) {
    try {
        static_cast<void>(load_scenario(handed_over("", "the scenario", result.scenario, false)));
    } catch (const sim::InputError& error) {
        std::vector<std::string> problems;
        for (const sim::InputError& one : sim::errors_in(error)) {
            problems.push_back(one.remedy().empty()
                                   ? one.problem()
                                   : fmt::format("{}; {}", one.problem(), one.remedy()));
        }
        return problems;
    }
    return {};
}

std::string as_comments(const std::string& text) {
    std::istringstream lines(text);
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        all += "# " + line + '\n';
    }
    return all;
}

Json maxtext_json(const MaxTextSettings& settings, const MaxTextImport& result) {
    return {{"schema", kSchemaName},
            {"kind", "import_maxtext"},
            {"scenario", result.scenario},
            {"used", lines_json(settings.used())},
            {"defaults", lines_json(settings.taken())},
            {"ignored", lines_json(settings.ignored())},
            {"not_expressed", lines_json(settings.not_expressed())},
            {"problems", maxtext_problems(result)},
            {"notes", result.notes}};
}

}  // namespace podsim::scenarios
