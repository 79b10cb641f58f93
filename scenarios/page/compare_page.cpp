#include "scenarios/page/compare_page.h"

#include <fmt/format.h>
#include <utility>

namespace podsim::scenarios {

Page compare_page(Json result) {
    const std::size_t count = result["scenarios"].size();
    return {
        .kind = "compare",
        .title = fmt::format("{} {} beside {} references", count,
                             count == 1 ? "scenario" : "scenarios", count == 1 ? "its" : "their"),
        .result = std::move(result)};
}

}  // namespace podsim::scenarios
