#include "scenarios/src/study/compare_page.h"

#include <fmt/format.h>
#include <utility>

namespace podsim::scenarios {

Page compare_page(std::span<const Comparison> rows, Json result) {
    Json families = Json::array();
    for (const Comparison& row : rows) {
        families.push_back(row.family);
    }
    const bool one = rows.size() == 1;
    return {.kind = "compare",
            .title = fmt::format("{} {} beside {} references", rows.size(),
                                 one ? "scenario" : "scenarios", one ? "its" : "their"),
            .result = std::move(result),
            .extra = {{"families", std::move(families)}}};
}

}  // namespace podsim::scenarios
