// `search`: the request to a search.
#include <array>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"

namespace podsim::scenarios {
namespace {

constexpr std::pair<std::string_view, SearchObjective> kObjectives[] = {
    {"step_time", SearchObjective::step_time},
    {"mfu", SearchObjective::mfu},
    {"cost", SearchObjective::cost},
    {"chips", SearchObjective::chips},
};

/// Checks the names that vary: one, or a list of them. search_spec (search/search_spec.h) reads
/// them.
void check_over(const Reader& over) {
    const std::vector<std::string> names = names_of_over();
    std::vector<std::pair<std::string_view, std::size_t>> choices;
    choices.reserve(names.size());
    for (const std::string& name : names) {
        choices.emplace_back(name, choices.size());
    }
    if (!over.present()) {
        return;
    }
    if (over.node().kind == YamlNode::Kind::scalar &&
        over.node().text.find(',') != std::string::npos) {
        over.refuse(kSeveralOver, kListOfOver);
        return;
    }
    for (const Reader& item : over.items()) {
        static_cast<void>(item.choose<std::size_t>(choices, 0));
    }
}

}  // namespace

SearchSection read_search(const Reader& section) {
    SearchSection read;
    check_over(section["over"]);
    if (const Reader mesh = section["mesh"]; mesh.is_map() && mesh.node().entries.empty()) {
        mesh.refuse(
            "names no axis",
            "write such as {fsdp: any, tensor: [1, 2, 4]}, or leave it out for the usual ones");
    }
    read.objective =
        section["objective"].choose<SearchObjective>(kObjectives, SearchObjective::step_time);
    const double margin = section["memory_margin"].get<double>(parse_percent, 0);
    if (margin < 0 || margin >= 1) {
        section["memory_margin"].refuse("a margin that leaves no memory",
                                        "write a percentage below 100 %");
    } else if (section["memory_margin"].present()) {
        read.memory_margin = margin;
    }
    const double deadline =
        section["deadline"].get<sim::Seconds>(parse_time, sim::Seconds(0)).value();
    if (section["deadline"].present()) {
        read.deadline_s = deadline;
    }
    read.least_tokens = section["tokens"].get<std::int64_t>(parse_count, 0);
    const double budget = section["budget"].get<double>(parse_number, 0);
    if (section["budget"].present()) {
        read.budget_usd = budget;
    }
    return read;
}

SearchSection load_search(const YamlNode& tree) {
    sim::InputFaults faults;
    return read_search(Reader(tree, faults)["search"]);
}

std::string_view to_string(SearchObjective objective) {
    for (const auto& [name, value] : kObjectives) {
        if (value == objective) {
            return name;
        }
    }
    return "";
}

}  // namespace podsim::scenarios
