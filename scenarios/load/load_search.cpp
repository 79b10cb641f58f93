// `search`: what a search asks for.
#include <array>

#include "scenarios/load/load.h"
#include "scenarios/load/load_parts.h"
#include "scenarios/text/quantity_text.h"

namespace podsim::scenarios {
namespace {

constexpr std::pair<std::string_view, SearchObjective> kObjectives[] = {
    {"step_time", SearchObjective::step_time},
    {"mfu", SearchObjective::mfu},
    {"cost", SearchObjective::cost},
    {"chips", SearchObjective::chips},
};

}  // namespace

SearchSection read_search(const Reader& section) {
    SearchSection read;
    read.objective =
        section["objective"].choose<SearchObjective>(kObjectives, SearchObjective::step_time);
    read.memory_margin = section["memory_margin"].get<double>(parse_percent, 0);
    if (read.memory_margin < 0 || read.memory_margin >= 1) {
        section["memory_margin"].refuse("a margin that leaves no memory",
                                        "write a percentage below 100 %");
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
