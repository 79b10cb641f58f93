#include "scenarios/src/cli/manual.h"
#include "scenarios/src/scenario/probes.h"
#include "scenarios/src/scenario/schema.h"

namespace podsim::scenarios {

std::vector<std::string> written_out_keys() {
    std::vector<std::string> keys;
    for (const KeySpec& key : schema()) {
        if (key.path.find('*') == std::string_view::npos) {
            keys.emplace_back(key.path);
        }
    }
    return keys;
}

std::vector<std::pair<std::string, std::vector<std::string>>> names_under_keys() {
    const AskedKeys asked = ask_probes();
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    for (const std::string& key : written_out_keys()) {
        const auto known = asked.keys.find(key);
        if (known == asked.keys.end()) {
            continue;
        }
        if (known->second.kind == ValueKind::flag) {
            all.emplace_back(key, std::vector<std::string>{"true", "false"});
        } else if (!known->second.choices.empty()) {
            all.emplace_back(key, known->second.choices);
        }
    }
    return all;
}

}  // namespace podsim::scenarios
