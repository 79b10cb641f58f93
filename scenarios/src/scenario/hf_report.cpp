#include "scenarios/src/scenario/hf_report.h"

#include <fmt/format.h>

#include "scenarios/src/base/format.h"

namespace podsim::scenarios {

std::string hf_report(const workloads::HfReading& reading) {
    const workloads::ParameterCount count = workloads::count_parameters(reading.model);
    std::string text = fmt::format("{}\n  {} parameters ({}), {} of a token\n", reading.model.name,
                                   count.total, format_count(static_cast<double>(count.total)),
                                   format_count(static_cast<double>(count.active)));
    text += "read:\n";
    for (const workloads::HfKey& key : reading.read) {
        text += fmt::format("  {} = {}\n", key.name, key.text);
    }
    text += "ignored:\n";
    for (const workloads::HfKey& key : reading.ignored) {
        text += fmt::format("  {}: {}\n", key.name, key.text);
    }
    for (const std::string& key : reading.unknown) {
        text += fmt::format("unknown: {}\n", key);
    }
    for (const std::string& note : reading.notes) {
        text += fmt::format("note: {}\n", note);
    }
    return text;
}

Json hf_json(const workloads::HfReading& reading) {
    const workloads::ParameterCount count = workloads::count_parameters(reading.model);
    const auto keys = [](const std::vector<workloads::HfKey>& list, const char* what) {
        Json all = Json::array();
        for (const workloads::HfKey& key : list) {
            all.push_back({{"key", key.name}, {what, key.text}});
        }
        return all;
    };
    return {{"schema", kSchemaName},
            {"kind", "import_hf"},
            {"model", reading.model.name},
            {"family", reading.family},
            {"parameters", count.total},
            {"active_parameters", count.active},
            {"read", keys(reading.read, "value")},
            {"ignored", keys(reading.ignored, "why")},
            {"unknown", reading.unknown},
            {"notes", reading.notes}};
}

}  // namespace podsim::scenarios
