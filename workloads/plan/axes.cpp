#include "workloads/plan/axes.h"

#include <algorithm>

namespace podsim::workloads {
namespace {

std::vector<std::string> by_turn(int PlanAxis::*turn) {
    std::vector<PlanAxis> rows(kPlanAxes.begin(), kPlanAxes.end());
    std::erase_if(rows, [&](const PlanAxis& row) { return row.*turn == 0; });
    std::ranges::sort(rows, {}, turn);
    std::vector<std::string> names;
    names.reserve(rows.size());
    for (const PlanAxis& row : rows) {
        names.emplace_back(row.name);
    }
    return names;
}

}  // namespace

std::vector<std::string> axes_with(bool PlanAxis::*property, const Ways& ways) {
    std::vector<std::string> names;
    for (const PlanAxis& row : kPlanAxes) {
        if (row.*property && ways.*row.ways > 1) {
            names.emplace_back(row.name);
        }
    }
    return names;
}

std::int64_t ways_with(bool PlanAxis::*property, const Ways& ways) {
    std::int64_t product = 1;
    for (const PlanAxis& row : kPlanAxes) {
        product *= row.*property ? ways.*row.ways : 1;
    }
    return product;
}

Ways ways_of(const topology::DeviceMesh& mesh) {
    Ways ways;
    for (const PlanAxis& row : kPlanAxes) {
        ways.*row.ways = mesh.size(std::string(row.name));
    }
    return ways;
}

topology::PlacingOrder placing_order() {
    return {by_turn(&PlanAxis::turn_for_chips), by_turn(&PlanAxis::turn_for_slices)};
}

}  // namespace podsim::workloads
